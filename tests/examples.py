"""How many examples a property is tried with: a quarter of what it asks for, or as NEARSAME_EXAMPLES says (100: all).

`make test` is run many times a day; before a change of keys, comparing or deciding all are worth their time.
"""

import os

__all__ = ["EXAMPLES", "share"]

EXAMPLES = int(os.environ.get("NEARSAME_EXAMPLES", "25"))
_FEWEST = 4


def share(number: int) -> int:
    """So many of this number of examples."""
    return max(min(number, _FEWEST), number * EXAMPLES // 100)
