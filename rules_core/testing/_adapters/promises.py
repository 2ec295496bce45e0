"""Promises of a framework, one check each: functions with rules, run in its cells.

What a rule here returns is right but for the one thing that is asked.
"""

from __future__ import annotations

from dataclasses import replace

from rules_core import UnsupportedError
from rules_core.testing._checks import Spec
from rules_core.testing._report import Failure

from . import (
    answers,
    calls,
    containers,
    errors,
    memory,
    numbers,
    numpy_only,
    orders,
    repeats,
    results,
)
from .host import Host

__all__ = ["PROMISES"]

_FORM = ("adapter.owns", "adapter.cells", "adapter.arrays")
_VALUE = (*_FORM, "value")
_CALL = (*_VALUE, "derivative", "rules")
_TREES = (*_CALL, "containers")
_RESULTS = (*_CALL, "results")
_MIXED = (*_CALL, "mixed-programs")
_ALL: tuple[Spec[Host], ...] = (
    Spec("value", calls.value, _FORM),
    Spec("derivative", calls.derivative, _VALUE),
    Spec("rules", calls.rules, (*_VALUE, "derivative")),
    Spec("programs", calls.programs, _CALL),
    Spec("own-derivatives", calls.own_derivatives, (*_CALL, "programs")),
    Spec("constants", calls.constants, _CALL),
    Spec("numpy-arrays", calls.numpy_arrays, (*_CALL, "constants")),
    Spec("names", calls.names, _CALL),
    Spec("defaults", calls.defaults, (*_CALL, "names", "constants")),
    Spec("keywords", calls.keywords, (*_CALL, "names")),
    Spec("keyword-derivative", calls.keyword_derivative, (*_CALL, "names")),
    Spec("thunks", answers.thunks, _CALL),
    Spec("containers", containers.containers, _CALL),
    Spec("container-forms", containers.forms, (*_TREES, "thunks")),
    Spec("needs", results.needs, (*_TREES, "container-forms", "programs")),
    Spec("instances", calls.instances, (*_CALL, "names", "needs")),
    Spec("constants-inside", containers.mixed, (*_TREES, "container-forms")),
    Spec("results", results.results, _CALL),
    Spec("result-containers", containers.result_containers, _RESULTS),
    Spec("one-result", results.one_result, _RESULTS),
    Spec("symbolic-zeros", results.symbolic_zeros, _RESULTS),
    Spec(
        "mixed-programs",
        repeats.mixed_programs,
        (*_TREES, "container-forms", "results", "programs"),
    ),
    Spec("dicts", containers.dicts, (*_MIXED, "container-forms")),
    Spec("returned-argument", memory.returned_arguments, _CALL),
    Spec("integers", results.integers, (*_CALL, "needs", "returned-argument")),
    Spec("zeros", answers.zeros, _CALL),
    Spec("projection", answers.projection, _CALL),
    Spec("scalars", numbers.scalars, (*_CALL, "programs", "projection")),
    Spec("empty", numbers.empty, _CALL),
    Spec("precision", numbers.precisions, (*_CALL, "projection")),
    Spec("half-precision", numbers.half_precision, (*_CALL, "precision")),
    Spec("complex", numbers.complex_numbers, (*_CALL, "precision")),
    Spec("shape", errors.shape, (*_CALL, "projection")),
    Spec("tangent-shape", errors.tangent_shape, _CALL),
    Spec("count", errors.count, _CALL),
    Spec("structure", errors.structure, _TREES),
    Spec("no-tangent", errors.no_tangent, _CALL),
    Spec("not-implemented", errors.not_implemented, _CALL),
    Spec("host-function", numpy_only.host_function, _CALL),
    Spec("host-rule", numpy_only.host_rule, (*_CALL, "host-function")),
    Spec("no-rule", numpy_only.no_rule, (*_CALL, "host-function")),
    Spec(
        "numpy-numbers", numbers.numbers_of_numpy, (*_CALL, "scalars", "host-function")
    ),
    Spec("numpy-results", memory.numpy_results, (*_MIXED, "host-rule")),
    Spec("stop-gradient", calls.stop_gradient, _CALL),
    Spec("repeated-result", memory.repeated_results, (*_RESULTS, "programs")),
    Spec(
        "shared-leaves", memory.shared_leaves, (*_TREES, "container-forms", "programs")
    ),
    Spec("unwritten", memory.unwritten, (*_CALL, "programs")),
    Spec("shared-cotangents", memory.shared_cotangents, (*_CALL, "unwritten")),
    Spec(
        "kept-cotangents",
        memory.kept_cotangents,
        (*_CALL, "host-rule", "shared-cotangents", "mixed-programs"),
    ),
    Spec("other-values", repeats.other_values, (*_CALL, "programs", "precision")),
    Spec("other-constants", repeats.other_constants, (*_CALL, "constants", "keywords")),
    Spec(
        "other-containers",
        repeats.other_containers,
        (*_TREES, "container-forms", "results"),
    ),
    Spec("other-functions", repeats.other_functions, _CALL),
    Spec("rule-changes", calls.rule_changes, (*_CALL, "own-derivatives")),
    Spec("threads", repeats.threads, (*_CALL, "programs")),
    Spec("errors", repeats.errors, _CALL),
    Spec("captured", calls.captured, (*_CALL, "errors")),
    Spec("second", orders.second, _CALL),
    Spec("second-rules", orders.second_rules, (*_CALL, "second")),
    Spec("second-containers", orders.second_containers, (*_TREES, "second")),
    Spec("batches", orders.batches, _CALL),
    Spec("batched-derivatives", orders.batched_derivatives, (*_CALL, "batches")),
)

# What a framework may not have, or a compiler does not see into; the others are for
# every framework.
_MAY_LACK = {
    "complex",
    "half-precision",
    "host-rule",
    "kept-cotangents",
    "numpy-results",
}


def _required(spec: Spec[Host]) -> Spec[Host]:
    """The check, failed where the framework refuses what it must support."""

    def run(host: Host) -> str | None:
        try:
            return spec.run(host)
        except UnsupportedError as error:
            message = f"every framework must support this, but raises: {error}"
            raise Failure(message) from error

    return spec if spec.name in _MAY_LACK else replace(spec, run=run)


PROMISES = tuple(map(_required, _ALL))
