"""The public interface for AD systems, adapters and rule packs.

Authors of rules need `rules_core` alone. This module is for code that runs rules: it
finds the rules of a function, detects their changes, reads and chooses them, and
reports debug mode.

>>> from rules_core import scalar_rule
>>> from rules_core.extend import CHANGES, find_table
>>> def double(x):
...     return 2 * x
>>> before = CHANGES.count
>>> _ = scalar_rule(double, lambda y, x: (2.0,))
>>> CHANGES.count > before, len(find_table(double).rrule.rules)
(True, 1)
"""

from rules_core._base.by_identity import ByIdentity
from rules_core._base.extras import name_extra
from rules_core._base.frameworks import Framework, register_framework
from rules_core._base.opaque_modules import (
    COMPILERS,
    LIFTED_STANDARD,
    OPAQUE,
    OWN,
    is_closed,
)
from rules_core._base.rule_notes import note_rule
from rules_core._base.shown import ShownText
from rules_core._base.unknown_names import refuse_unknown
from rules_core._dispatch.chosen_values import CHOSEN
from rules_core._dispatch.fitting import reasons
from rules_core._dispatch.registry import ATTRIBUTE, PACKS, find_table
from rules_core._dispatch.rule import LINEAR, SELECTION, Location, Rule
from rules_core._dispatch.rule_signature import read_types
from rules_core._dispatch.stand_ins import class_in_program, stand_in, stand_in_of
from rules_core._dispatch.table import CHANGES, NoConfig, RuleSet
from rules_core._hosts.batch_flags import leaf_flags
from rules_core._hosts.captured_variables import bound_to, content
from rules_core._hosts.code_names import cell_value, codes, rebinds, stored_cells
from rules_core._hosts.constant_numbers import (
    cotangent_of_constant,
    refuse_moving_constant,
)
from rules_core._hosts.expected_values import check_expected
from rules_core._hosts.flat_call import FlatCall
from rules_core._hosts.foreign import of_moving
from rules_core._hosts.function_reads import Reads, reads_of
from rules_core._hosts.functions_in import functions_in
from rules_core._hosts.layouts import (
    LEAF,
    Opener,
    count_leaves,
    flatten,
    form_of,
    keyed_of,
    leaf_paths,
    statics,
    unflatten,
)
from rules_core._hosts.read_places import Place, places_read
from rules_core._hosts.rule_reads import ConstantReads, reads_of_rule
from rules_core._hosts.tangent_leaves import (
    build as build_tangent,
    read as read_tangent,
)
from rules_core._primitives.find_host import find_adapter
from rules_core._primitives.ignore_derivatives import without_captured
from rules_core._primitives.not_a_number import nan_unless
from rules_core._primitives.primitive import FLAGS
from rules_core._primitives.result_shapes import declared_shapes
from rules_core._primitives.strong_zero import strong_product
from rules_core._primitives.strong_zeros_met import note_strong_zeros, strong_zeros_met
from rules_core._rules.debug_mode import is_watching
from rules_core._rules.explain import EXPLAINERS, explained
from rules_core._rules.named_cotangents import ordered_cotangents
from rules_core._rules.numpy_functions import numpy_function
from rules_core._tangents.broadcast_shapes import same_without_ones, summed_axes
from rules_core._tangents.check import whole_numbers
from rules_core._tangents.leaves import signed
from rules_core._tangents.project import entries_given, entries_of
from rules_core._tangents.sparse import is_sparse, is_sparse_class
from rules_core._tangents.structure import slots_of

__all__ = [
    "ATTRIBUTE",
    "CHANGES",
    "CHOSEN",
    "COMPILERS",
    "EXPLAINERS",
    "FLAGS",
    "LEAF",
    "LIFTED_STANDARD",
    "LINEAR",
    "OPAQUE",
    "OWN",
    "PACKS",
    "SELECTION",
    "ByIdentity",
    "ConstantReads",
    "FlatCall",
    "Framework",
    "Location",
    "NoConfig",
    "Opener",
    "Place",
    "Reads",
    "Rule",
    "RuleSet",
    "ShownText",
    "bound_to",
    "build_tangent",
    "cell_value",
    "class_in_program",
    "content",
    "check_expected",
    "codes",
    "cotangent_of_constant",
    "count_leaves",
    "declared_shapes",
    "entries_given",
    "entries_of",
    "explained",
    "find_adapter",
    "find_table",
    "flatten",
    "form_of",
    "functions_in",
    "is_closed",
    "is_sparse",
    "is_sparse_class",
    "is_watching",
    "keyed_of",
    "leaf_flags",
    "leaf_paths",
    "name_extra",
    "nan_unless",
    "note_rule",
    "note_strong_zeros",
    "numpy_function",
    "of_moving",
    "ordered_cotangents",
    "places_read",
    "read_tangent",
    "read_types",
    "reads_of",
    "reads_of_rule",
    "reasons",
    "rebinds",
    "refuse_moving_constant",
    "refuse_unknown",
    "register_framework",
    "same_without_ones",
    "whole_numbers",
    "signed",
    "slots_of",
    "stand_in",
    "stand_in_of",
    "statics",
    "stored_cells",
    "strong_product",
    "strong_zeros_met",
    "summed_axes",
    "unflatten",
    "without_captured",
]
