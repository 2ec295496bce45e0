"""Derivatives of plain NumPy programs: reference AD, modelled on Mooncake.jl.

This page is the contents of the package; each name lives in the module beside it.
"""

from rules_autodiff import (  # noqa: F401  (they register)
    _arithmetic,
    _asking,
    _attribute_slots,
    _buffers,
    _by_keyword,
    _containers,
    _elementary,
    _filling,
    _ignored,
    _inplace,
    _matmul,
    _memo,
    _ordering,
    _text,
    _views,
)
from rules_autodiff._builtins import stop_gradient
from rules_autodiff._config import EngineConfig
from rules_autodiff._duals import (
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
from rules_autodiff._errors import EngineError, SourceNotFound, UnsupportedProgram
from rules_autodiff._exported import deriver
from rules_autodiff._front import grad, hvp, jvp, linearize, value_and_grad, vjp
from rules_autodiff._inputs import Const
from rules_autodiff._jacobians import hessian, jacfwd, jacobian, jacrev
from rules_autodiff._mutating_rules import frule_mutating, rrule_mutating
from rules_autodiff._surface import is_primitive, overlay, show
from rules_autodiff._via import derive_frule, derive_rrule
from rules_core import tangent_type, zero_tangent

__all__ = [
    # The front door
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
    "overlay",
    "show",
    # Rules for functions that write into their arguments
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
