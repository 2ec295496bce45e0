"""Functions declared opaque: their rules differentiate them, never their code."""

import pytest

import rules_core as rc
from rules_autodiff import (
    UnsupportedProgram,
    grad,
    is_primitive,
    jvp,
    opaque,
    value_and_grad,
)
from rules_core import scalar_rule
from rules_core.testing import isolated_rules

WITHOUT_A_RULE = pytest.raises(UnsupportedProgram, match="must have a rule")


def square():
    def square(x):
        return x * x

    return square


def method():
    class Squaring:
        def square(self, x):
            return x * x

    opaque(Squaring.square)
    return Squaring().square


MAKERS = {
    "function": lambda: opaque(square()),
    "primitive": lambda: opaque(rc.primitive(square())),
    "method": method,
    "of an instance": lambda: opaque(method()),
}


def calls(f):
    """Programs that differentiate `f`."""
    return {
        "alone": lambda: grad(f)(2.0),
        "within": lambda: grad(lambda x: f(x) + x)(2.0),
        "forward": lambda: jvp(lambda x: f(x) + x, (2.0,), (1.0,)),
        "twice": lambda: grad(grad(lambda x: f(x) + x))(2.0),
    }


@pytest.mark.parametrize("call", calls(None))
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_without_a_rule(make, call):
    for _ in range(3):  # the third would run written code
        with WITHOUT_A_RULE:
            calls(make())[call]()


def test_a_constant_argument_needs_no_rule():
    f = opaque(square())
    assert value_and_grad(lambda x: x + f(3.0))(2.0) == (11.0, 1.0)
    assert f(3.0) == 9.0


def test_its_rule_answers():
    f = opaque(square())
    with isolated_rules():
        scalar_rule(f, lambda _y, x: (7.0 * x,))
        assert [grad(lambda x: f(x) + x)(2.0) for _ in range(3)] == [15.0] * 3


def test_code_that_was_written_before():
    f = square()

    def program(x):
        return f(x) * 2.0

    assert [grad(program)(2.0) for _ in range(3)] == [8.0] * 3
    opaque(f)
    with WITHOUT_A_RULE:
        grad(program)(2.0)


def test_is_primitive():
    f = square()
    assert not is_primitive(f, 2.0)
    assert is_primitive(opaque(f), 2.0)
    assert is_primitive([].append, 2.0)  # which has no weak reference


def test_what_has_no_code_is_refused():
    with pytest.raises(TypeError, match="opaque: f must be a Python function"):
        opaque(len)
