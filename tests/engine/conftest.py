"""Both tiers of the engine pass the same tests.

`RULES_STRAIGHT=1 pytest tests/engine` writes code at the first call of each function,
where else the second one does; many a test calls once.
"""

import os

from rules_autodiff.straight._tier import signatures

if os.environ.get("RULES_STRAIGHT") == "1":
    signatures.AFTER = 0
