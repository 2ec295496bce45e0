"""Functions that rules call back: what they may read and write.

The rule runs below the level that asked it. That level knows the value and the
derivative that the rule gives it, and nothing else of what the function did.
"""

import functools

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad
from tests.engine.applied import applied, rules_of_applied
from tests.engine.modes import pushed


@pytest.fixture(autouse=True)
def _applied():
    with rules_of_applied():
        yield


class Box:
    total = 0.0
    kept = [0.0]  # noqa: RUF012  (it is the class that is written to)

    def __init__(self, value):
        self.value = value

    def square(self, v):
        self.value = v * v
        return v

    def reads_class(self, v):
        return v * self.total

    def __call__(self, v):
        return v * self.kept[0]


ARRAY, LIST, DICT, BOX, NUMBER = np.zeros(1), [0.0], {"a": 0.0}, Box(0.0), 0.0


@pytest.fixture(autouse=True)
def _globals_as_they_were():
    global NUMBER  # noqa: PLW0603  (what is tested)
    yield
    ARRAY[0] = LIST[0] = DICT["a"] = BOX.value = NUMBER = Box.total = 0.0
    Box.kept[0] = 0.0


# Functions that write `v²` where `read` finds it.


def writes_array(v):
    ARRAY[0] = v * v
    return v


def writes_array_by_numpy(v):
    np.copyto(ARRAY, v * v)
    return v


def writes_array_added(v):
    np.add.at(ARRAY, [0], v * v)
    return v


def writes_list(v):
    LIST[0] = v * v
    return v


def writes_by_a_helper(v):
    writes_list(v)
    return v


def writes_dict(v):
    DICT["a"] = v * v
    return v


def writes_attribute(v):
    BOX.value = v * v
    return v


def writes_class(v):
    Box.total = v * v
    return v


def writes_class_of_an_object(v):
    BOX.kept[0] = v * v
    return v


def writes_number(v):
    global NUMBER  # noqa: PLW0603  (what is tested)
    NUMBER = v * v
    return v


def writes_default(v, kept=LIST):
    kept[0] = v * v
    return v


GLOBALS = {
    writes_array: lambda: ARRAY[0],
    writes_array_by_numpy: lambda: ARRAY[0],
    writes_array_added: lambda: ARRAY[0],
    writes_list: lambda: LIST[0],
    writes_by_a_helper: lambda: LIST[0],
    writes_dict: lambda: DICT["a"],
    writes_attribute: lambda: BOX.value,
    writes_class: lambda: Box.total,
    writes_class_of_an_object: lambda: Box.kept[0],
    writes_number: lambda: NUMBER,
    writes_default: lambda: LIST[0],
    BOX.square: lambda: BOX.value,
}


def captured_array(x):
    kept = np.array([x, x * x])

    def f(u):
        kept[0] *= u
        return kept[0]

    return applied(f, x) + kept[0]


def captured_list(x):
    seen = [x]

    def f(u):
        seen.append(u * u)
        return seen[0] * u

    return applied(f, x) + seen[-1]


def captured_number(x):
    total = x

    def f(u):
        nonlocal total
        total = total * u
        return total

    return applied(f, x) + total


def captured_nothing(x):
    total = None

    def f(u):
        nonlocal total
        total = u * u
        return u

    return applied(f, x) * total


def captured_by_an_inner_function(x):
    total = None

    def inner(u):
        nonlocal total
        total = [u * u]

    def f(u):
        inner(u)
        return u

    return applied(f, x) * total[0]


def attribute_of_itself(x):
    def f(u):
        f.kept = u * u
        return u

    return applied(f, x) * f.kept


CAPTURED = [
    captured_array, captured_list, captured_number, captured_nothing,
    captured_by_an_inner_function, attribute_of_itself,
]  # fmt: skip


def argument_array(x):
    def f(z):
        z[0] = z[1] * z[1]
        return z[0]

    z = np.array([x, x])
    return applied(f, z) * z[0]


def argument_list(x):
    def f(z):
        z.append(z[0] * z[0])
        return z[0]

    z = [x]
    return applied(f, z) * z[-1]


def argument_object(x):
    def f(z):
        return z.square(z.value)

    z = Box(x)
    return applied(f, z) * z.value


ARGUMENTS = [argument_array, argument_list, argument_object]

MODES = pytest.mark.parametrize("mode", [grad, pushed], ids=["reverse", "forward"])
TOLD = (
    r"must not write to its arguments, to what it captured, to globals, defaults or "
    r"classes, but .*test_called_back\.\S+ does \(.*\)\. Let it write into copies"
)


@pytest.mark.covering(every=3)
@MODES
@pytest.mark.parametrize("write", GLOBALS, ids=lambda f: f.__name__)
def test_a_function_that_a_rule_calls_must_not_write_to_what_others_read(write, mode):
    def program(x):
        y = applied(write, x)
        return y * GLOBALS[write]()

    assert program(2.0) == 8.0  # x³
    with pytest.raises(UnsupportedProgram, match=TOLD):
        mode(program)(2.0)


@pytest.mark.covering(every=3)
@MODES
@pytest.mark.parametrize("program", [*CAPTURED, *ARGUMENTS], ids=lambda f: f.__name__)
def test_nor_to_what_it_captured_or_was_given(program, mode):
    """The level that asked the rule would go on with the old derivative."""
    program(2.0)
    with pytest.raises(UnsupportedProgram, match=TOLD):
        mode(program)(2.0)
    with pytest.raises(UnsupportedProgram, match=TOLD):
        grad(mode(program))(2.0)


def test_it_may_count_its_calls():
    """What carries no derivative, Python itself keeps."""
    count = 0

    def f(v):
        nonlocal count
        count += 1
        return v * v

    assert grad(lambda x: applied(f, x))(3.0) == 6.0
    assert count == 1


@MODES
def test_what_it_makes_itself_it_may_write_to(mode):
    def program(x):
        def f(u):
            own, seen, box, total = np.array([u, x]), [], Box(u), {}
            own[0] *= own[1]
            seen.append(own[0])
            box.value = seen[0] * u
            total["a"] = box.value

            def add(v):
                nonlocal total
                total = total["a"] + v

            add(own[0])
            return total  # u² x + u x

        return applied(f, x)  # x³ + x²

    assert mode(program)(2.0) == pytest.approx(16.0)
    assert mode(mode(program))(2.0) == pytest.approx(14.0)
    assert grad(mode(grad(program)))(2.0) == pytest.approx(6.0)


# Functions that read `x²` from where no rule looks for it.


def reads_array(v):
    return v * ARRAY[0]


def reads_by_a_helper(v):
    return reads_array(v)


def reads_class(v):
    return v * Box.total


READS = {
    "array": reads_array,
    "by a helper": reads_by_a_helper,
    "class": reads_class,
    "class, by a method": BOX.reads_class,
    "class, by an object": BOX,
    "partial": functools.partial(reads_array),
}


@pytest.mark.covering(strength=1)
@MODES
@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("at", [None, 2.0], ids=["variable", "constant"])
def test_a_function_given_to_a_rule_must_capture_what_it_reads(read, at, mode):
    def program(x):
        ARRAY[0] = Box.total = Box.kept[0] = x * x
        return applied(read, x if at is None else at)

    assert program(2.0) == 8.0
    told = r"must capture what it reads .* as a global, as a default or as an attribute"
    with pytest.raises(UnsupportedProgram, match=told):
        mode(program)(2.0)


@MODES
def test_a_default_is_not_captured(mode):
    def program(x):
        def f(v, factor=x * x):
            return v * factor

        return applied(f, x)

    with pytest.raises(UnsupportedProgram, match="as a global, as a default"):
        mode(program)(2.0)


@MODES
def test_other_globals_may_be_read(mode):
    """Those that carry no derivative, and those that nobody reads."""

    def program(x):
        BOX.value = x
        ARRAY[0] = 3.0
        return applied(reads_array, x) * BOX.value  # 3 x²

    assert mode(program)(2.0) == 12.0
