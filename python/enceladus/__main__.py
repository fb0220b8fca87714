"""`python -m enceladus` is the command `enceladus`."""

import sys

from enceladus.cli import main

if __name__ == "__main__":
    sys.exit(main())
