"""`python -m tests.wild` writes the table of the page anew."""

import logging

from tests.wild.packages import PACKAGES, missing
from tests.wild.table import PAGE, rendered, survey, write

if __name__ == "__main__":
    logging.disable()
    if absent := missing():
        message = f"Install the dependency group wild first: {', '.join(absent)}"
        raise SystemExit(message)
    rows = survey(list(PACKAGES))
    write(rows)
    print(rendered(rows), PAGE)
