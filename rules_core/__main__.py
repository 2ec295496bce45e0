"""`python -m rules_core`: the command `rules-core`."""

import sys

from rules_core._command.main import main

if __name__ == "__main__":
    sys.exit(main())
