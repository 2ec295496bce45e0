"""Typed lists and dicts of numba in differentiated programs: constants, or an error."""

import numba
import numpy as np
import pytest

from rules_autodiff import Const, UnsupportedProgram, grad, hessian, jacfwd, jvp, vjp

TIERS = ["tape", "auto"]


FULL = pytest.mark.full  # numba compiles typed dicts and iterators: seconds
KINDS = ["list", pytest.param("dict", marks=FULL)]


def typed(kind):
    if kind == "list":
        return numba.typed.List([3.0, 2.0])
    table = numba.typed.Dict()
    table["k"] = 3.0
    return table


def by_loop(x, held):
    total = 0.0
    for k in held:
        total = total + x * k
    return total - x * held[1]


def by_position(x, held):
    return x * x * held[0] / x + 0 * len(held)


def by_key(x, held):
    return x * held["k"] if "k" in held else 0.0


PROGRAMS = [
    (by_position, "list"),
    pytest.param(by_loop, "list", marks=FULL),
    pytest.param(by_key, "dict", marks=FULL),
]


@pytest.mark.parametrize(("program", "kind"), PROGRAMS)
def test_constants(program, kind):
    held = typed(kind)
    for f in (lambda x: program(x, held), lambda x: program(x, Const(held).value)):
        for tier in TIERS:
            for _ in range(3):
                assert grad(f, tier=tier)(2.0) == pytest.approx(3.0)
        assert jacfwd(f)(2.0) == pytest.approx(3.0)
        assert hessian(f)(2.0) == pytest.approx(0.0)
    assert grad(program)(2.0, held) == pytest.approx(3.0)
    assert jvp(program, (2.0, Const(held)), (1.0, None))[1] == pytest.approx(3.0)


def test_constants_that_the_program_changes():
    held = numba.typed.List([3.0])

    def program(x):
        y = x * held[0]
        held.append(5.0)
        held[0] = 4.0
        return y + x * held[0]

    assert grad(program)(2.0) == pytest.approx(7.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [False, True])
def test_arguments_to_be_differentiated_are_an_error(kind, inside):
    held = typed(kind)
    x = {"a": held, "b": 1.0} if inside else held

    def program(x):
        return 2.0

    for call in (
        lambda: vjp(program, x),
        lambda: grad(program)(x),
        lambda: jvp(program, (x,), (x,)),
        lambda: jacfwd(program)(x),
    ):
        with pytest.raises(UnsupportedProgram, match=r"of numba\. Pass a list, a dict"):
            call()


def test_integers_have_no_derivative():
    counts = numba.typed.List([3, 4])
    dx, dn = vjp(lambda x, n: x * n[0], 2.0, counts)[1](1.0)
    assert dx == pytest.approx(3.0)
    assert type(dn).__name__ == "NoTangent"


def made(x):
    return numba.typed.List([x, 2.0])[0]


def appended(x):
    held = numba.typed.List([1.0])
    held.append(x)
    return held[-1]


@pytest.mark.parametrize("program", [made, appended])
def test_values_with_a_derivative_in_them_are_an_error(program):
    with pytest.raises(UnsupportedProgram, match="must have a rule"):
        grad(program)(2.0)


def test_a_write_of_a_value_with_a_derivative_is_an_error():
    held = numba.typed.List([1.0])

    def program(x):
        held[0] = x
        return held[0]

    with pytest.raises(UnsupportedProgram):
        grad(program)(2.0)


@FULL
def test_functions_of_numba_that_take_them():
    @numba.njit
    def total(x, held):
        found = 0.0
        for k in held:
            found += x * k
        return found

    held = numba.typed.List([3.0, 2.0])
    np.testing.assert_allclose(grad(lambda x: total(x, held))(2.0), 5.0)
