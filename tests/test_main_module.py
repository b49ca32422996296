"""The package runs as a module, too."""

import subprocess
import sys


def test_the_package_is_a_command() -> None:
    """As `nearsame` is."""
    done = subprocess.run([sys.executable, "-m", "nearsame", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("nearsame ")
