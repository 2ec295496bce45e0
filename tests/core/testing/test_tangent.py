"""`check_tangent`: types whose tangents are vectors pass, others do not."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import CheckFailed, check_tangent


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Frozen:
    weight: Any
    name: str


@dataclass
class Mutable:
    weight: Any
    count: int


PRIMALS = [
    1.5,
    2j,
    np.float32(1.0),
    np.ones((2, 3)),
    np.ones(2, dtype=np.complex64),
    np.array(1.0),
    (1.0, 2, "a"),
    [np.ones(2), 1.0],
    {"a": 1.0, "b": (2.0, None)},
    Pair(1.0, np.zeros(2)),
    Frozen(np.ones(2), "n"),
    Mutable(np.ones(2), 3),
]


@pytest.mark.parametrize("primal", PRIMALS, ids=range(len(PRIMALS)))
def test_tangents_of_every_kind_of_primal_conform(primal):
    report = check_tangent(primal)
    assert {check.status for check in report} == {"passed"}, report


@pytest.mark.parametrize("primal", [3, "a", None, len, (1, "b")])
def test_what_has_no_tangent_is_not_run(primal):
    report = check_tangent(primal)
    assert report["tangent.type"].detail == "NoTangent"
    assert len(report.not_run) == len(report.checks) - 1


def test_a_type_whose_structure_loses_a_number_fails():
    class Forgetful:
        def __init__(self, kept, lost):
            self.kept, self.lost = kept, lost

        def __tangent_structure__(self):
            def build(values):
                return Forgetful(values[0], 0.0)

            names, values = ("kept", "lost"), (self.kept, self.lost)
            return rc.Structure(Forgetful, "field", names, values, build)

        def __reduce__(self):
            return Forgetful, (self.kept, self.lost)

    with pytest.raises(CheckFailed, match=r"tangent\.point"):
        check_tangent(Forgetful(1.0, 2.0))
