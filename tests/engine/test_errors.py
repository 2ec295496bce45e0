"""Right or a clear error: what the engine refuses, and in which words."""

import array
import copy
import decimal
import math
import statistics

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp

X = np.array([0.5, -1.0, 2.0])


def no_rule(x):
    return decimal.Decimal(x)


def no_rule_in_a_container(x):
    return array.array("d", [1.0, x])[1]


def in_a_set(x):
    return sum({x, 2.0})


def into_a_set(x):
    s = set()
    s.add(x)
    return x


def set_from_a_list(x):
    return sum(set([x, 1.0]))  # noqa: C405  the call of `set` is refused


def integer_array(x):
    a = np.zeros(3, int)
    a[0] = x
    return x


def object_array(x):
    a = np.empty(2, object)
    a[0] = x
    return a[0]


def boolean_mask_write(x):
    a = np.zeros(3, bool)
    a[1] = x
    return x


class Circle:
    def __init__(self, r):
        self.r = r

    @property
    def area(self):
        return self.r**2


def property_pattern(x):
    match Circle(x):
        case Circle(area=a):
            return a
    return x


def buffer_write(x):
    a = array.array("d", [1.0])
    a[0] = x
    return a[0]


class Packed:
    def __init__(self, v):
        self.v = v

    def __reduce__(self):
        return Packed, (self.v * 2,)


def copied_by_reduction(x):
    return copy.copy(Packed(x)).v


def deep_copied_by_reduction(x):
    return copy.deepcopy([Packed(x)])[0].v


def seen_through_memory(x):
    return memoryview(np.ones(2) * x)[0]


def summed_by_c_code(x):
    return statistics.fmean(v * x for v in (1.0, 2.0))


def summed_values(x):
    return statistics.fmean({"a": x}.values())


def overlapping_write(x):
    v = np.lib.stride_tricks.as_strided(np.zeros(3), (3, 3), (8, 0))
    v[:, 0] = x
    return x


REFUSED = [
    (no_rule, r"decimal\.Decimal \(.*test_errors.py, line 18\) must have a rule"),
    (no_rule_in_a_container, r"array\.array .* must have a rule"),
    (in_a_set, "A set must hold constants"),
    (into_a_set, "A set must hold constants"),
    (set_from_a_list, "A set must hold constants"),
    (integer_array, "the dtype is int64"),
    (boolean_mask_write, "the dtype is bool"),
    (object_array, "array of objects"),
    (property_pattern, "Circle.area is a property"),
    (buffer_write, "put into an object of class array"),
    (seen_through_memory, r"reached by arrays alone.*\(memoryview\)"),
    (copied_by_reduction, r"copy\.copy .* must have a rule"),
    (deep_copied_by_reduction, r"copy\.deepcopy .* must have a rule"),
    (summed_by_c_code, "fmean .* must have a rule"),
    (summed_values, "fmean .* must have a rule"),
    (overlapping_write, "must not share memory with itself"),
]


@pytest.mark.parametrize(("f", "text"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_refused(f, text):
    with pytest.raises(UnsupportedProgram, match=text):
        grad(f)(1.5)
    with pytest.raises(UnsupportedProgram, match=text):
        jvp(f, (1.5,), (1.0,))


def reinterpreted(x):
    return x.view(np.int64)[0] * 0.0 + x[0]


def bytes_view_write(x):
    y = x * 2
    y.view(np.uint8)[0] = 1
    return y[0]


def unbuffered(x):
    y = np.concatenate([x, x]) if False else x * 1.0
    y = y[[0, 1, 2, 0, 1, 2]]
    y[::2] = y[:3]
    return y @ y


def resized(x):
    y = x * 2
    y.resize(2, refcheck=False)
    return y[0]


ARRAYS = [
    (reinterpreted, "reinterpreted"),
    (bytes_view_write, "reinterpreted"),
    (unbuffered, "NumPy does not buffer"),
    (resized, "resized"),
]


@pytest.mark.parametrize(("f", "text"), ARRAYS, ids=[f.__name__ for f, _ in ARRAYS])
def test_refused_for_arrays(f, text):
    with pytest.raises(UnsupportedProgram, match=text):
        grad(f)(X.copy())
    with pytest.raises(UnsupportedProgram, match=text):
        jvp(f, (X.copy(),), (X,))


def test_refusals_leave_the_arguments_restored():
    def f(x):
        x *= 3.0
        return no_rule(x[0])

    x = X.copy()
    with pytest.raises(UnsupportedProgram):
        grad(f)(x)
    np.testing.assert_array_equal(x, X)


def test_written_arguments_that_are_aliased():
    buffer = X.copy()

    def reads_captured(x):
        x[0] = 5.0
        return buffer @ x

    def both(x, y):
        x[0] = 5.0
        return x @ y

    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(reads_captured)(buffer)
    np.testing.assert_array_equal(buffer, X)
    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(both, (0, 1))(buffer, buffer)
    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(both)(buffer, buffer)
    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(lambda p: both(*p))([buffer, buffer[::-1]])
    np.testing.assert_array_equal(buffer, X)


def test_masked_arrays_are_refused():
    with pytest.raises(UnsupportedProgram, match="plain NumPy array"):
        grad(lambda x: x[0])(np.ma.masked_array(X, [0, 1, 0]))


def test_a_branch_that_never_runs_needs_no_rule():
    def f(x):
        return no_rule(x) if x > 100 else x * x

    assert grad(f)(2.0) == 4.0


def test_constants_may_go_anywhere():
    def f(x):
        n = decimal.Decimal(3)
        table = {1.5, 2.5}
        flags = np.zeros(3, int)
        flags[1] = 7
        return x * int(n) * len(table) * flags[1] * math.gcd(4, 6)

    assert grad(f)(1.0) == 84.0


def test_a_rule_that_is_asked_from_outside():
    """Where the function itself has the rule, no program called it."""
    from rules_core import frule  # above, it would move the lines that tests name

    def faulty(x):
        return x

    @frule.define(faulty)
    def faulty_frule(tangents, x):
        raise ValueError

    with pytest.raises(ValueError) as caught:  # noqa: PT011  it is the rule's own
        jvp(faulty, (1.0,), (1.0,))
    rule, note = caught.value.__notes__
    assert rule.startswith("This happened in frule test_a_rule_that_is_asked_from_")
    assert note.endswith("faulty, called from outside of any differentiated function.")
