"""Rules on callable objects run, also where these have attributes of all names."""

import functools

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_core import NoTangent, frule, rrule


def step(x):
    return np.round(x)


class Layer:
    def __call__(self, x):
        return np.round(x)


class Foreign:
    """Answers for every name, as wrappers of libraries of C do, also for `__dict__`."""

    def __init__(self, f):
        object.__setattr__(self, "f", f)

    def __getattr__(self, name):
        return Foreign(lambda *_: name)

    @property
    def __dict__(self):
        return Foreign(None)

    def __call__(self, *args):
        return self.f(*args)


class Compiled:
    """A function in C with such attributes: a dispatcher of numba."""

    def __init__(self, f):
        self.f = f

    @property
    def __dict__(self):
        return Foreign(None)

    def __call__(self, x):
        return self.f(x)


class Native(functools.partial):
    """Its `__call__` asks that of C, as one of `numba.vectorize` does."""

    def __call__(self, *args):
        return super().__call__(*args)


OBJECTS = {
    "cache": lambda: functools.cache(step),
    "lru_cache": lambda: functools.lru_cache(maxsize=4)(step),
    "vectorize": lambda: np.vectorize(step),
    "vectorize with a signature": lambda: np.vectorize(step, signature="()->()"),
    "instance": Layer,
    "compiled": lambda: Compiled(step),
    "singledispatch": lambda: functools.singledispatch(lambda x: np.round(x)),
}


# What takes no rule, but is held and called.
HELD = OBJECTS | {
    "foreign": lambda: Foreign(step),
    "native": lambda: Native(step),
}


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_a_rule_on_an_object_runs(make, kind):
    f = make()
    assert grad(lambda x: f(x) + 0.0 * x)(1.3) == 0.0
    if kind == "rrule":

        @rrule.define(f)
        def rule(x):
            return np.round(x), lambda dy: (NoTangent(), 7.0 * dy)
    else:

        @frule.define(f)
        def rule(tangents, x):
            return np.round(x), 7.0 * tangents[1]

    assert "rule(" in rc.explain(f, 1.3)
    for program in (f, lambda x: f(x), lambda x: sum([f(v) for v in [x]])):
        assert grad(program)(1.3) == 7.0
        assert jvp(program, (1.3,), (1.0,))[1] == 7.0


@pytest.mark.parametrize("make", HELD.values(), ids=HELD)
def test_an_object_may_be_called_with_constants(make):
    f = make()
    assert grad(lambda x: x * f(3.2))(1.3) == 3.0


@pytest.mark.parametrize("make", HELD.values(), ids=HELD)
def test_an_object_may_be_captured(make):
    held = [make()]
    assert grad(lambda x: x * len(held) * (held[0] is not None))(1.3) == 1.0


def test_a_call_in_c_has_no_derivative():
    f = Native(step)
    with pytest.raises(UnsupportedProgram, match="must have a rule"):
        grad(lambda x: f(x) * x)(1.3)


# rules that do not fit


def deep(x):
    import statistics

    return statistics.fmean([x, 1.0])


def chosen(x, mode):
    return deep(x) * mode


@rrule.define(chosen)
def chosen_rrule(x: float, mode: int):
    def chosen_pullback(dy):
        return NoTangent(), 0.5 * mode * dy, NoTangent()

    return (x + 1.0) / 2.0 * mode, chosen_pullback


def test_an_error_tells_which_rules_did_not_fit():
    assert grad(lambda x: chosen(x, 2))(1.3) == 1.0
    with (
        pytest.warns(rc.RuleSkippedWarning),
        pytest.raises(UnsupportedProgram, match="fmean") as caught,
    ):
        grad(lambda x: chosen(x, "2"))(1.3)
    notes = "\n".join(caught.value.__notes__)
    assert "No rule of " in notes
    assert "chosen fits this call" in notes
    assert "chosen_rrule" in notes
    assert "test_rules_on_objects.py" in notes


def test_an_opted_out_rule_is_not_blamed():
    def f(x):
        return deep(x)

    @rrule.define(f)
    def f_rrule(x):
        return x, lambda dy: (NoTangent(), dy)

    rc.opt_out(rrule, f, float)
    with pytest.raises(UnsupportedProgram, match="fmean") as caught:
        grad(f)(1.3)
    assert "f_rrule" not in "".join(getattr(caught.value, "__notes__", ()))


class Of:  # noqa: PLW1641  (it has no hash on purpose)
    """A class whose `__call__` is what Python lets it be, for `b sin(x)`."""

    factor = 3.0

    def __eq__(self, other):
        return NotImplemented

    def times(self, x, by=1.0):
        return self.factor * by * np.sin(x)


def sine(x):
    return 3.0 * np.sin(x)


def of_class(cls, x):
    return Of.times(cls, x)


def called(call):
    return type("Called", (Of,), {"__call__": call})()


def special(method):
    """A primitive without an own derivative as a method."""
    f = rc.primitive(lambda self, x: method(self, rc.ignore_derivatives(x)))

    @rrule.define(f)
    def special_rrule(self, x):
        return f(self, x), lambda dy: (
            NoTangent(),
            NoTangent(),
            self.factor * np.cos(x) * dy,
        )

    return f


SPECIALS = {
    "a function": Of.times,
    "a primitive": special(Of.times),
    "a static method": staticmethod(sine),
    "a class method": classmethod(of_class),
    "a partial method": functools.partialmethod(Of.times, by=1.0),
    "of a base": vars(type("Base", (), {"__call__": Of.times}))["__call__"],
}


@pytest.mark.parametrize("tier", ["tape", "auto"])
@pytest.mark.parametrize("name", SPECIALS)
def test_every_kind_of_call_method(name, tier):
    f = called(SPECIALS[name])
    assert f(1.3) == sine(1.3)
    slope = 3.0 * np.cos(1.3)
    for program in (lambda x: f(x), lambda x: [f][0](x), lambda x: f.__call__(x)):
        np.testing.assert_allclose(grad(program, tier=tier)(1.3), slope)
        np.testing.assert_allclose(jvp(program, (1.3,), (1.0,))[1], slope)


@rc.primitive
def kept(f):
    """A rule whose result is a function that it was given."""
    return f


rc.non_differentiable(kept)
RETURNED = {
    "a function": lambda x: kept(lambda v: v * x[1]),
    "in a list": lambda x: kept([lambda v: v * x[1]]),
    "in a method": lambda x: kept(functools.partial(lambda v, w: v * w, x)),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_a_returned_function_captures_keeps_its_derivative(name):
    """The rule's derivative is that of its result, not of the variable in it."""

    def f(x):
        RETURNED[name](x)
        return np.sum(x**2)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(grad(f)(x), 2 * x)
    assert jvp(f, (x,), (x,))[1] == 28.0
