"""Differentiation rules, written once for every AD system.

This page is the contents of the package; each name lives in the module beside it.
"""

from rules_core._base.arrays import (
    Array,
    ArrayLike,
    ShapeDtype,
    array_namespace,
    is_array,
)
from rules_core._base.errors import (
    AmbiguousRulesError,
    CotangentCountError,
    CotangentNameError,
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
from rules_core._base.public_names import settle as _settle
from rules_core._declare.finite_differences import finite_difference_rule
from rules_core._declare.implicit import implicit
from rules_core._declare.linear import linear
from rules_core._declare.linear_rule import linear_rule
from rules_core._declare.non_differentiable import non_differentiable
from rules_core._declare.opt_out import no_frule, no_rrule, opt_out
from rules_core._declare.scalar_rule import derivatives_given_output, scalar_rule
from rules_core._dispatch.configs import (
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
from rules_core._dispatch.registry import rules
from rules_core._dispatch.rule import Rule
from rules_core._hosts.foreign import Foreign
from rules_core._primitives.declare import as_primitive, primitive
from rules_core._primitives.find_host import Adapter
from rules_core._primitives.ignore_derivatives import ignore_derivatives
from rules_core._primitives.namespace import with_rules
from rules_core._primitives.primitive import Primitive
from rules_core._primitives.residual import Residual
from rules_core._primitives.shape_and_batch_rules import batch_rule, shape_rule
from rules_core._rules.debug_mode import (
    debug_mode,
    switch_on_by_environment as _switch_on_by_environment,
)
from rules_core._rules.derived_rules import Deriver, resolve_primitive, why_not_derived
from rules_core._rules.explain import RuleNotFound, explain
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._rules.lookup import normal_form
from rules_core._rules.resolved_call import FRuleCall, RRuleCall, RuleCall
from rules_core._rules.skipped import RuleSkippedWarning, warn_if_skipped
from rules_core._rules.trace import RuleTrace, TracedCall, trace
from rules_core._rules.vjp_and_jvp import jvp, vjp
from rules_core._tangents.accumulate import accumulate, is_inplaceable_destination
from rules_core._tangents.canonical import has_tangent, tangent_type, zero_tangent
from rules_core._tangents.check import refuse_no_tangent
from rules_core._tangents.containers import (
    MutableTangent,
    StructuralTangent,
    Tangent,
    backing,
    canonicalize,
)
from rules_core._tangents.project import ProjectTo, materialise, normalise
from rules_core._tangents.pullback import Pullback
from rules_core._tangents.structure import Structure, structure
from rules_core._tangents.thunks import (
    AbstractThunk,
    InplaceableThunk,
    Thunk,
    thunk,
    unthunk,
)
from rules_core._tangents.zeros import (
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
    "linear",
    "implicit",
    "finite_difference_rule",
    "non_differentiable",
    "opt_out",
    "no_frule",
    "no_rrule",
    "vjp",
    "jvp",
    "Pullback",
    "Residual",
    "derivatives_given_output",
    # Primitives: one function in every framework
    "primitive",
    "Primitive",
    "as_primitive",
    "with_rules",
    "shape_rule",
    "batch_rule",
    "ShapeDtype",
    "ignore_derivatives",
    "Array",
    "ArrayLike",
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
    "trace",
    "RuleTrace",
    "TracedCall",
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
    "CotangentNameError",
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
