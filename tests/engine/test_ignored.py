"""`ignore_derivatives(f)`: what `f` writes and captures is constant too."""

import functools
import statistics

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_core import ignore_derivatives


def collected(x):
    kept = []
    ignore_derivatives(lambda: kept.append(x * x))
    return kept[0]


def captured(x):
    kept = []
    ignore_derivatives(lambda: kept.append(x))
    return kept[0] * 2.0


def captured_array(x):
    kept, a = {}, np.ones(2) * x

    def keep():
        kept["a"] = a

    ignore_derivatives(keep)
    return np.sum(kept["a"])


def captured_tuple(x):
    kept, pair = [], (x, [x * 2.0][0])
    ignore_derivatives(lambda: kept.extend(pair))
    return kept[1]


def outer_variable(x):
    last = x * 1.0

    def keep():
        nonlocal last
        last = last * x

    ignore_derivatives(keep)
    return last


class Box:
    value = 0.0


def attribute(x):
    box = Box()

    def keep():
        box.value = x * 3.0

    ignore_derivatives(keep)
    return box.value


def returned(x):
    return ignore_derivatives(lambda: (x, [x * x]))[1][0]


def by_partial(x):
    kept = []
    ignore_derivatives(functools.partial(kept.append, x * 2.0))
    return kept[0]


def in_c(x):
    return ignore_derivatives(lambda: statistics.fmean([x, 3.0]))


def through_a_text(x):
    return ignore_derivatives(lambda: float(f"{x:.6f}"))


def nested(x):
    return ignore_derivatives(lambda: ignore_derivatives(lambda: x) * x)


PROGRAMS = [
    collected, captured, captured_array, captured_tuple, outer_variable, attribute,
    returned, by_partial, in_c, through_a_text, nested,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_nothing_has_a_derivative(f):
    def program(x):
        return f(x) + 7.0 * x

    value, slope = jvp(program, (1.3,), (1.0,))
    assert value == program(1.3)
    assert slope == 7.0
    assert grad(program)(1.3) == 7.0
    assert grad(grad(lambda x: f(x) * x * x))(1.3) == pytest.approx(2.0 * f(1.3))


def test_what_is_collected_stays():
    losses = []

    def f(x):
        y = x * x
        ignore_derivatives(lambda: losses.append(y))
        return y

    assert grad(f)(1.5) == 3.0
    assert jvp(f, (2.5,), (1.0,))[1] == 5.0
    assert losses == [2.25, 6.25]


def writes_captured(x):
    a = np.ones(2) * x
    ignore_derivatives(lambda: a.fill(1.0))
    return np.sum(a)


def writes_constant(x):
    a = np.ones(2)
    ignore_derivatives(lambda: np.copyto(a, 3.0))
    return np.sum(a) * x


def from_an_attribute(x):
    box, kept = Box(), []
    box.value = x

    def keep():
        kept.append(box.value)

    ignore_derivatives(keep)
    return kept[0]


@pytest.mark.parametrize("f", [writes_captured, writes_constant, from_an_attribute])
def test_what_cannot_be_constant_is_an_error(f):
    for run in (lambda: grad(f)(1.3), lambda: jvp(f, (1.3,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="ignore_derivatives"):
            run()


HOSTED = [collected, captured, outer_variable, attribute, returned, by_partial, nested]


@pytest.mark.parametrize("f", HOSTED, ids=[f.__name__ for f in HOSTED])
@pytest.mark.parametrize("host", ["jax", "torch"])
def test_the_same_in_hosts(f, host):
    def program(x):
        return f(x) + 7.0 * x

    if host == "jax":
        jax = pytest.importorskip("jax")
        assert float(jax.grad(program)(1.5)) == 7.0
        return
    torch = pytest.importorskip("torch")
    x = torch.tensor(1.5, requires_grad=True)
    program(x).backward()
    assert float(x.grad) == 7.0
    assert float(torch.func.grad(program)(torch.tensor(1.5))) == 7.0
