"""What a program reads from outside: values and functions that change."""

import builtins

import numpy as np
import pytest

from rules_autodiff import grad, value_and_grad
from rules_autodiff.straight._tier import signatures

X = np.array([0.5, -1.0, 2.0])
FACTOR = 2.0
pytestmark = pytest.mark.usefixtures("at_once")


def helper(x):
    return x * x


def other(x):
    return x * x * x


def reads_number(x):
    return x * FACTOR


def reads_array(x):
    return np.sum(x * FACTOR)


def calls_helper(x):
    return helper(x) * 2.0


def with_default(x, y=2.0):
    return x * y


def calls_default(x):
    return with_default(x)


def tanh_of(x):
    return np.sum(np.tanh(x))


def rebind(monkeypatch, f, name, value):
    monkeypatch.setitem(f.__globals__, name, value)


def test_a_global_of_the_same_kind(monkeypatch, tapes):
    assert grad(reads_number)(3.0) == 2.0
    rebind(monkeypatch, reads_number, "FACTOR", 5.0)
    assert grad(reads_number)(3.0) == 5.0
    assert tapes == []


def test_a_global_of_another_kind(monkeypatch, tapes):
    np.testing.assert_array_equal(grad(reads_array)(X), [2.0, 2.0, 2.0])
    for value in (X, np.float64(3.0), 3, X[0]):
        rebind(monkeypatch, reads_array, "FACTOR", value)
        expected = np.broadcast_to(value, X.shape)
        np.testing.assert_array_equal(grad(reads_array)(X), expected)
    assert tapes == []


def test_a_global_of_no_kind(monkeypatch):
    assert grad(reads_number)(3.0) == 2.0
    rebind(monkeypatch, reads_number, "FACTOR", 1j)
    with pytest.raises(TypeError, match="must return one real number"):
        grad(reads_number)(3.0)


def test_a_global_that_is_gone(monkeypatch):
    assert grad(reads_number)(3.0) == 2.0
    monkeypatch.delitem(reads_number.__globals__, "FACTOR")
    with pytest.raises(NameError, match="FACTOR"):
        grad(reads_number)(3.0)


def test_another_function_of_the_same_name(monkeypatch):
    assert grad(calls_helper)(3.0) == 12.0
    rebind(monkeypatch, calls_helper, "helper", other)
    assert grad(calls_helper)(3.0) == 54.0


def test_another_body_of_the_same_function(monkeypatch):
    assert grad(calls_helper)(3.0) == 12.0
    monkeypatch.setattr(helper, "__code__", other.__code__)
    assert grad(calls_helper)(3.0) == 54.0


def test_another_body_of_the_program(monkeypatch):
    assert grad(helper)(3.0) == 6.0
    monkeypatch.setattr(helper, "__code__", other.__code__)
    assert grad(helper)(3.0) == 27.0


def test_another_default(monkeypatch):
    assert grad(with_default)(3.0) == 2.0
    assert grad(calls_default)(3.0) == 2.0
    monkeypatch.setattr(with_default, "__defaults__", (7.0,))
    assert grad(with_default)(3.0) == 7.0
    assert grad(calls_default)(3.0) == 7.0


def test_a_replaced_function_of_numpy(monkeypatch):
    np.testing.assert_allclose(grad(tanh_of)(X), 1 - np.tanh(X) ** 2)
    monkeypatch.setattr(np, "tanh", np.sin)
    np.testing.assert_allclose(grad(tanh_of)(X), np.cos(X))


def test_a_replaced_builtin(monkeypatch):
    def program(x):
        return abs(x) * 2.0

    assert grad(program)(-3.0) == -2.0
    monkeypatch.setitem(program.__globals__, "abs", lambda x: x * 5.0)
    assert grad(program)(-3.0) == 10.0


def test_a_builtin_replaced_for_everybody(monkeypatch):
    def program(x):
        return abs(x) * x

    gradient = grad(program)
    for _ in range(3):
        assert gradient(-2.0) == 4.0
    monkeypatch.setattr(builtins, "abs", lambda x: x * x)
    assert gradient(-2.0) == 12.0


def test_a_variable_of_an_enclosing_function(tapes):
    factor = 2.0

    def program(x):
        return x * factor

    assert grad(program)(3.0) == 2.0
    factor = 4.0
    assert grad(program)(3.0) == 4.0
    assert tapes == []
    factor = np.array([3.0])
    assert value_and_grad(lambda x: program(x)[0])(3.0) == (9.0, 3.0)
    program.__closure__[0].__delattr__("cell_contents")
    with pytest.raises(NameError, match="factor"):
        grad(program)(3.0)


def test_closures_share_what_is_written(tapes):
    def scaled_by(factor):
        def scale(x):
            return x * factor

        return lambda x: scale(x) * factor

    for count in range(1, 20):
        assert grad(scaled_by(float(count)))(3.0) == float(count) ** 2
    assert tapes == []


def test_functions_of_one_code_over_other_functions(tapes):
    """One code, and what it calls is another function each time."""

    def applied(inner):
        return lambda x: inner(x) * 2.0

    functions = [lambda x: x, lambda x: x * 2, lambda x: x * 3, lambda x: x * 4,
                 lambda x: x * 5, lambda x: x * 6]  # fmt: skip
    for _ in range(2):
        for factor, inner in enumerate(functions, 1):
            assert grad(applied(inner))(3.0) == 2.0 * factor
    assert tapes, "only so many are written"


def test_a_number_that_becomes_an_array_and_back(monkeypatch, tapes):
    def program(x):
        return np.sum(x * held)

    held = 2.0
    for _ in range(5):
        held = 2.0
        np.testing.assert_array_equal(grad(program)(X), [2.0, 2.0, 2.0])
        held = X
        np.testing.assert_array_equal(grad(program)(X), X)
    assert len(next(iter(signatures.FORMS.get(program.__code__).values())).units) == 2
    assert tapes == []


class Model:
    scale = 2.0

    def __init__(self):
        self.weight = 3.0

    def applied(self, x):
        return x * self.weight * self.scale

    @property
    def double(self):
        return self.weight * 2.0


MODEL = Model()


def by_method(x):
    return MODEL.applied(x)


def by_property(x):
    return x * MODEL.double


def by_attributes(x):
    return x * MODEL.weight * MODEL.scale


CHANGES = {
    "attribute": lambda m: m.setattr(MODEL, "weight", 5.0),
    "attribute of another kind": lambda m: m.setattr(MODEL, "weight", X[0]),
    "attribute of the class": lambda m: m.setattr(Model, "scale", 7.0),
    "hidden attribute": lambda m: m.setattr(MODEL, "scale", 7.0, raising=False),
    "method": lambda m: m.setattr(Model, "applied", lambda self, x: x * x),
    "method of the object": lambda m: m.setattr(MODEL, "applied", lambda x: x * 9.0),
    "property": lambda m: m.setattr(Model, "double", property(lambda self: 11.0)),
    "property to a number": lambda m: m.setattr(Model, "double", 12.0),
    "look-up": lambda m: m.setattr(Model, "__getattribute__", seven, raising=False),
}


def seven(self, name):
    return 7.0 if name in ("weight", "scale") else object.__getattribute__(self, name)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_objects_that_change(change, monkeypatch):
    for _ in range(2):
        for f in (by_method, by_property, by_attributes):
            step = 1e-6
            slope = (f(1.5 + step) - f(1.5 - step)) / (2 * step)
            assert grad(f)(1.5) == pytest.approx(slope, rel=1e-6)
        change(monkeypatch)


def test_the_globals_of_each_function_are_its_own():
    """Two functions of one code, with other globals."""
    made = []
    for factor in (2.0, 5.0):
        space = {"FACTOR": factor, "__name__": __name__}
        made.append(type(reads_number)(reads_number.__code__, space))
    assert [grad(f)(3.0) for f in made] == [2.0, 5.0]
    assert [grad(f)(3.0) for f in reversed(made)] == [5.0, 2.0]
