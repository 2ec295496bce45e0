"""rules_core in JAX: an author's rules behave like derivatives that JAX itself knows.

This page is the contents of the package; each name lives in the module beside it.
"""

# Before all else: it tells the core what an array is.
from rules_core.extend import name_extra as _name_extra

try:
    from . import _framework as _framework
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_jax")
    raise

# isort: split
from rules_jax._values.project import RuleOutputError

from . import _explain as _explain
from ._adapter import adapter
from ._config import JaxConfig
from ._from_jax import from_jax
from ._to_jax import to_jax

__all__ = [
    "JaxConfig",
    "RuleOutputError",
    "adapter",
    "from_jax",
    "to_jax",
]
