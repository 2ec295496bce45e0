"""Second derivatives of the packs: of every function, but not in every run."""

from __future__ import annotations

from zlib import crc32

import pytest

# Most of what a check costs: the rules' bodies are differentiated once more.
SECOND = {
    f"{kind}.{check}"
    for kind in ("rrule", "frule")
    for check in ("second-order", "slope-at-zero")
}
WHOLE = 5000


def left_out(request: pytest.FixtureRequest) -> set[str]:
    """Checks that a test leaves to `make test-full` in an everyday run of all folders.

    One test in four checks second derivatives there. A run of chosen folders or files
    checks all.
    """
    everyday = "not full" in request.config.getoption("markexpr")
    alone = request.session.testscollected < WHOLE
    chosen = crc32(request.node.nodeid.encode()) % 4 == 0
    return SECOND if everyday and not alone and not chosen else set()
