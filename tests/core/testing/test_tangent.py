"""`check_tangent`: types whose tangents are vectors pass, others do not."""

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import CheckFailed, _tangent as module, check_tangent
from tests.core.testing.primals import Frozen, Mutable, Pair

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


class Deaf:
    """A projection that hears no zero and no thunk."""

    def __init__(self, x):
        self.x = x

    def __call__(self, dx):
        return rc.materialise(self.x, dx)


class Eager(Deaf):
    def __call__(self, dx):
        return dx if dx is rc.ZeroTangent() else rc.materialise(self.x, dx)


def _overwriting(x, dx):
    dx += x
    return dx


def _materialised_wrongly(x, dx):
    return 0 if dx is rc.ZeroTangent() else dx


@pytest.mark.parametrize(
    ("name", "wrong", "check", "text"),
    [
        (
            "zero_tangent",
            lambda x: 0,
            "type",
            "zero_tangent gives 0, which is no ndarray",
        ),
        ("zero_tangent", np.ones_like, "type", "zero_tangent is wrong at x[0]"),
        (
            "tangent_type",
            lambda x: rc.NoTangent,
            "type",
            "zero_tangent gives array([0., 0.]), which is no NoTangent",
        ),
        ("accumulate", _overwriting, "accumulation", "accumulate(du, dv) writes to dv"),
        ("accumulate", lambda x, y: x, "accumulation", "accumulate(du, dv) is wrong"),
        ("ProjectTo", Deaf, "projection", "must stay ZeroTangent()"),
        ("ProjectTo", Eager, "projection", "ProjectTo(x) of a thunk must stay a thunk"),
        (
            "materialised",
            _materialised_wrongly,
            "materialised",
            "materialise(x, ZeroTangent()) gives 0",
        ),
    ],
)
def test_operations_that_do_not_fit_the_type_are_found(
    monkeypatch, name, wrong, check, text
):
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(CheckFailed) as caught:
        check_tangent(np.array([1.0, 2.0]))
    assert [c.name for c in caught.value.report.failed] == [f"tangent.{check}"]
    assert text in caught.value.report[f"tangent.{check}"].detail


def test_a_type_that_claims_a_tangent_without_numbers_fails(monkeypatch):
    monkeypatch.setattr(module, "tangent_type", lambda x: rc.Tangent)
    monkeypatch.setattr(module, "zero_tangent", lambda x: rc.Tangent(tuple))
    with pytest.raises(CheckFailed, match="tangent_type is Tangent with 0 numbers"):
        check_tangent(())


def test_a_primal_that_does_not_pickle_is_not_asked_to():
    class Local:
        def __init__(self, x):
            self.x = x

    report = check_tangent(Local(1.0))
    assert report["tangent.pickled"].detail == "the primal cannot be pickled"
