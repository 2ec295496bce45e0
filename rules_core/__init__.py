"""Differentiation rules, written once for every AD system.

This page is the contents of the package; each name lives in the module beside it.
"""

from ._accumulate import accumulate, is_inplaceable_destination
from ._adapters import Adapter
from ._arrays import Array, ShapeDtype, array_namespace, is_array
from ._calls import FRuleCall, RRuleCall, RuleCall
from ._canonical import has_tangent, tangent_type, zero_tangent
from ._config import (
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    SupportsMutation,
    Trait,
    frule_via_ad,
    rrule_via_ad,
)
from ._debug import debug_mode, switch_on_by_environment as _switch_on_by_environment
from ._derived import Deriver, resolve_primitive, why_not_derived
from ._elementwise import batch_rule, shape_rule
from ._errors import (
    AmbiguousRulesError,
    CotangentCountError,
    DebugError,
    MixedHostsError,
    NoTangentError,
    PackImportError,
    PrimitiveError,
    ProjectionError,
    RuleClashError,
    RuleDefinitionError,
    RuleResultError,
    RulesCoreError,
    TangentCountError,
    UnsupportedError,
    ViaADError,
)
from ._explain import RuleNotFound, explain
from ._foreign import Foreign
from ._handle import Primitive
from ._home import settle as _settle
from ._ignore import ignore_derivatives
from ._inspect import refuse_no_tangent
from ._linear import linear_rule
from ._lookup import normal_form
from ._nondiff import non_differentiable
from ._optout import no_frule, no_rrule, opt_out
from ._primitive import as_primitive, primitive
from ._project import ProjectTo, materialise, normalise
from ._pullback import Pullback
from ._registry import rules
from ._rule import Rule
from ._rules import frule, rrule
from ._scalar import derivatives_given_output, scalar_rule
from ._skipped import RuleSkippedWarning, warn_if_skipped
from ._structural import (
    MutableTangent,
    StructuralTangent,
    Tangent,
    backing,
    canonicalize,
)
from ._structure import Structure, structure
from ._thunks import AbstractThunk, InplaceableThunk, Thunk, thunk, unthunk
from ._zeros import (
    AbstractTangent,
    AbstractZero,
    DerivativeNotImplemented,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
    not_implemented,
)

__version__ = "0.1.0"

__all__ = [
    # Calling and writing rules
    "frule",
    "rrule",
    "scalar_rule",
    "linear_rule",
    "non_differentiable",
    "opt_out",
    "no_frule",
    "no_rrule",
    "Pullback",
    "derivatives_given_output",
    # One function, every host
    "primitive",
    "Primitive",
    "as_primitive",
    "shape_rule",
    "batch_rule",
    "ShapeDtype",
    "ignore_derivatives",
    "Array",
    "array_namespace",
    "is_array",
    # Tangents
    "AbstractTangent",
    "AbstractZero",
    "ZeroTangent",
    "NoTangent",
    "NotImplementedTangent",
    "not_implemented",
    "StructuralTangent",
    "Tangent",
    "MutableTangent",
    "backing",
    "canonicalize",
    "has_tangent",
    "tangent_type",
    "zero_tangent",
    "Structure",
    "structure",
    # Lazy tangents, accumulation, projection
    "AbstractThunk",
    "Thunk",
    "InplaceableThunk",
    "thunk",
    "unthunk",
    "accumulate",
    "is_inplaceable_destination",
    "ProjectTo",
    "normalise",
    "materialise",
    "refuse_no_tangent",
    # Configurations of AD systems
    "RuleConfig",
    "HasForwardsMode",
    "HasReverseMode",
    "NoForwardsMode",
    "NoReverseMode",
    "SupportsMutation",
    "Trait",
    "frule_via_ad",
    "rrule_via_ad",
    # For AD systems and tools
    "Adapter",
    "Foreign",
    "Deriver",
    "resolve_primitive",
    "why_not_derived",
    "warn_if_skipped",
    "Rule",
    "RuleCall",
    "FRuleCall",
    "RRuleCall",
    "normal_form",
    "rules",
    "explain",
    "debug_mode",
    # Errors
    "RulesCoreError",
    "RuleNotFound",
    "RuleDefinitionError",
    "RuleClashError",
    "AmbiguousRulesError",
    "RuleResultError",
    "TangentCountError",
    "CotangentCountError",
    "NoTangentError",
    "ProjectionError",
    "DerivativeNotImplemented",
    "PackImportError",
    "PrimitiveError",
    "MixedHostsError",
    "UnsupportedError",
    "ViaADError",
    "DebugError",
    "RuleSkippedWarning",
]

_settle(globals(), __all__)
_switch_on_by_environment()
