"""Derivatives of plain NumPy programs: an AD system modelled on Mooncake.jl.

This page is the contents of the package; each name lives in the module beside it.
"""

from rules_core.extend import name_extra as _name_extra

try:
    from rules_autodiff._boundary.enter import Const
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_autodiff")
    raise
from rules_autodiff._callbacks import (  # noqa: F401  (register)
    decided,
    ignore_derivatives,
    operation,
)
from rules_autodiff._callbacks.config import EngineConfig
from rules_autodiff._callbacks.via_ad import derive_frule, derive_rrule
from rules_autodiff._front.grad import grad, value_and_grad
from rules_autodiff._front.jacobians import hessian, jacfwd, jacobian, jacrev
from rules_autodiff._front.jvp import hvp, jvp, linearize
from rules_autodiff._front.tools import is_primitive, opaque, overlay, show, tiers
from rules_autodiff._front.vjp import vjp
from rules_autodiff._hooks import buffers, caches, texts  # noqa: F401  (register)
from rules_autodiff._host_rules.derive import deriver
from rules_autodiff._mutating.duals import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    fdata,
    fdata_type,
    rdata,
    rdata_type,
    tangent,
)
from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._own_rules import arithmetic, matmul  # noqa: F401  (register)
from rules_autodiff._python.errors import (
    EngineError,
    SourceNotFound,
    UnsupportedProgram,
)
from rules_autodiff._replacements import (  # noqa: F401  (register)
    active_keywords,
    array_views,
    array_writes,
    assertions,
    attributes,
    container_methods,
    containers,
    functions_of_functions,
    ordering,
    questions,
)
from rules_autodiff._replacements.builtins import stop_gradient
from rules_core import tangent_type, zero_tangent

__all__ = [
    # Transformations
    "grad",
    "value_and_grad",
    "jvp",
    "vjp",
    "linearize",
    "jacfwd",
    "jacrev",
    "jacobian",
    "hessian",
    "hvp",
    "Const",
    "stop_gradient",
    # Rules
    "EngineConfig",
    "derive_frule",
    "derive_rrule",
    "deriver",
    "is_primitive",
    "opaque",
    "overlay",
    "show",
    "tiers",
    # Rules for functions that write to their arguments
    "CoDual",
    "Dual",
    "NoFData",
    "NoRData",
    "fdata",
    "rdata",
    "fdata_type",
    "rdata_type",
    "tangent",
    "tangent_type",
    "zero_tangent",
    "frule_mutating",
    "rrule_mutating",
    # Errors
    "EngineError",
    "SourceNotFound",
    "UnsupportedProgram",
]
