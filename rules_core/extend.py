"""The second front door: what AD systems, hosts and rule packs build on.

Authors of rules need `rules_core` alone. What is here answers the questions that code
which runs other people's rules asks: whose rules there are, whether they changed, how
one is read and chosen, whether somebody watches.

>>> from rules_core import scalar_rule
>>> from rules_core.extend import CHANGES, find_table
>>> def double(x):
...     return 2 * x
>>> before = CHANGES.count
>>> _ = scalar_rule(double, lambda y, x: (2.0,))
>>> CHANGES.count > before, len(find_table(double).rrule.rules)
(True, 1)
"""

from ._annotations import read_types
from ._chosen import CHOSEN
from ._debug import is_watching
from ._fitting import reasons
from ._ignore import without_captured
from ._numbers import signed
from ._registry import ATTRIBUTE, PACKS, find_table
from ._rule import Location, Rule
from ._sparse import is_sparse
from ._table import CHANGES, NoConfig, RuleSet

__all__ = [
    "ATTRIBUTE",
    "CHANGES",
    "CHOSEN",
    "PACKS",
    "Location",
    "NoConfig",
    "Rule",
    "RuleSet",
    "find_table",
    "is_sparse",
    "is_watching",
    "read_types",
    "reasons",
    "signed",
    "without_captured",
]
