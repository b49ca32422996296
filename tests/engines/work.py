"""What workers of tests do; they load nothing else."""

import os
import signal
import time


def doubled(number: int, asking: int) -> tuple[int, int]:
    """Twice a number, and by which process; a negative one is refused."""
    if number < 0:
        raise ValueError(f"{number} is negative")
    return 2 * number, os.getpid()


def deadly(number: int, asking: int) -> tuple[int, int]:
    """The same; every third number is the end of a worker."""
    if number % 3 == 0 and os.getpid() != asking:
        os.kill(os.getpid(), signal.SIGKILL)
    return doubled(number, asking)


def endless(number: int, asking: int) -> tuple[int, int]:
    """It never comes back from a worker."""
    while os.getpid() != asking:
        time.sleep(600)
    return doubled(number, asking)
