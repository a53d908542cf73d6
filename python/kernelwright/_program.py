"""The program ``kwright`` that the package carries."""

import os
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kwright")


def main() -> None:
    """Become kwright, with the arguments of this process."""
    os.execv(PATH, ["kwright", *sys.argv[1:]])
