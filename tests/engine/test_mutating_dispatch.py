"""Mutating rules: which one answers, in which mode, and for how many tangents."""

import ctypes
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    UnsupportedProgram,
    frule_mutating,
    grad,
    is_primitive,
    jacfwd,
    jacrev,
    jvp,
    rrule_mutating,
    tangent_type,
    zero_tangent,
)
from rules_autodiff.testing import check_program
from rules_core import NoTangent
from tests.engine.wrong_mutating import (
    Forward,
    Reverse,
    forward_rule,
    isolated_mutating_rules,
    kernel,
    program,
    reverse_rule,
)

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_mutating_rules():
        yield


def scale(x):
    """Twice an array in place; three times a number."""
    if isinstance(x, np.ndarray):
        x *= 2.0
        return None
    return x * 3.0


def doubled(x):
    """The mutating rule of `scale` for an array."""
    x.primal[...] *= 2.0

    def scale_pullback(_):
        x.primal[...] /= 2.0
        x.fdata[...] *= 2.0
        return NoRData(), NoRData()

    return CoDual(None, NoFData()), scale_pullback


def define_scale():
    @rrule_mutating.define(scale)
    def scale_array(f, x: CoDual[np.ndarray, Any]):
        return doubled(x)

    @rrule_mutating.define(scale)
    def scale_number(f, x: CoDual[float, Any]):
        def scale_pullback(dy):
            return NoRData(), 3.0 * dy

        return CoDual(x.primal * 3.0, NoFData()), scale_pullback

    @frule_mutating.define(scale)
    def scale_forward(f, x: Dual[np.ndarray, Any]):
        x.primal[...] *= 2.0
        x.tangent[...] *= 2.0
        return Dual(None, NoTangent())


def uses_both(x, c):
    y = x * c
    scale(y[1:])
    return y @ y * scale(c)


def test_rules_are_chosen_by_the_classes_of_primals():
    define_scale()
    check_program(uses_both, X, 1.5)
    assert is_primitive(scale, X)
    assert is_primitive(scale, 1.0)
    assert not is_primitive(scale, "text")


def test_the_most_specific_rule_is_used():
    used = []

    def give(f, x):
        used.append(type(x.primal))
        return CoDual(x.primal * 1.0, NoFData()), lambda dy: (NoRData(), dy)

    def identity(x):
        return x * 1.0

    @rrule_mutating.define(identity)
    def any_rule(f, x):
        used.append("any")
        return give(f, x)

    @rrule_mutating.define(identity)
    def special_rule(f, x: CoDual[np.floating | int, Any]):
        used.append("special")
        return give(f, x)

    assert grad(identity)(2.0) == 1.0
    assert grad(identity)(np.float64(2.0)) == 1.0
    assert used == ["any", float, "special", np.float64]


def test_rules_with_any_number_of_arguments():
    def total(*xs):
        return sum(xs)

    @rrule_mutating.define(total)
    def total_rule(f, *xs: CoDual[float, Any]):
        def total_pullback(dy):
            return NoRData(), *(dy for _ in xs)

        return CoDual(sum(x.primal for x in xs), NoFData()), total_pullback

    assert grad(lambda x: total(x, x * x, 3.0) * 2.0)(1.5) == 8.0
    assert grad(lambda x: total(x))(1.5) == 1.0


def test_annotations_must_be_of_duals():
    def rule(f, x: np.ndarray): ...

    with pytest.raises(rc.RuleDefinitionError, match=r"annotated with CoDual\[class"):
        rrule_mutating.define(scale)(rule)
    with pytest.raises(rc.RuleDefinitionError, match="must be hashable"):
        rrule_mutating.define([])(lambda f: None)


class Account:
    def __init__(self, balance):
        self.balance = balance

    def charge(self, x):
        return x * 2.0


def test_methods():
    """The key is the function of the class; the instance is the first argument."""

    @rrule_mutating.define(Account.charge)
    def charge_rule(f, account, x):
        return CoDual(x.primal * 2.0, NoFData()), lambda dy: (
            NoRData(),
            NoRData(),
            5.0 * dy,
        )

    assert grad(lambda x: Account(1.0).charge(x))(3.0) == 5.0


def double_by_c(a):
    """C code: it writes, and nobody sees it."""
    source = a * 2.0
    ctypes.memmove(a.ctypes.data, source.ctypes.data, a.nbytes)


def test_writes_into_constants_are_noted():
    """A residual is a reference: what writes into it must be undone on the way back."""

    @rrule_mutating.define(double_by_c)
    def double_rule(f, a):
        double_by_c(a.primal)

        def double_pullback(_):
            a.primal[...] /= 2.0
            a.fdata[...] *= 2.0
            return NoRData(), NoRData()

        return CoDual(None, NoFData()), double_pullback

    def f(x):
        c = np.array([1.0, 2.0, 3.0])
        y = x * c
        double_by_c(c)
        return y @ c

    np.testing.assert_allclose(grad(f)(X), [2.0, 8.0, 18.0])


def test_arguments_that_are_seen_by_another_way():
    define_scale()
    buffer = X.copy()

    def f(x):
        scale(x)
        return buffer @ x

    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(f)(buffer)
    np.testing.assert_array_equal(buffer, X)
    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        jvp(f, (buffer,), (X,))


def test_jacobians_run_a_mutating_frule_once_for_each_tangent():
    rrule_mutating.define(kernel)(reverse_rule(Reverse()))
    frule_mutating.define(kernel)(forward_rule(Forward()))

    def f(x, c):
        out = x * 3.0
        total = kernel(out, x, c)
        return out * total

    for argnum in (0, 1):
        found = jacfwd(f, argnum)(X, 1.5)
        np.testing.assert_allclose(found, jacrev(f, argnum)(X, 1.5))
    step = 1e-6
    slope = (program(X, 1.5 + step) - program(X, 1.5 - step)) / (2 * step)
    assert jacfwd(program, 1)(X, 1.5) == pytest.approx(slope)


def fill(items):
    items.append(items[0] * 2.0)


def filled(x):
    items = [x[0], x[1]]
    fill(items)
    return items[2] * items[1]


def test_lists_are_refused_with_several_tangents():
    @frule_mutating.define(fill)
    def fill_rule(f, items): ...

    with pytest.raises(
        UnsupportedProgram, match=r"fill.*fill_rule.*arrays and numbers"
    ):
        jacfwd(filled)(X)


def test_only_the_other_modes_rule():
    """A mutating rule is for its own mode; the other mode derives the function."""

    @rrule_mutating.define(scale)
    def scale_rule(f, x):
        return doubled(x)

    def f(x):
        y = x * 1.0
        scale(y)
        return y @ y

    check_program(f, X)


def test_names_of_the_interface():
    assert tangent_type(1.0) is float
    assert zero_tangent(2.5) == 0.0
    np.testing.assert_array_equal(zero_tangent(X), np.zeros(3))
    assert tangent_type("text") is NoTangent
