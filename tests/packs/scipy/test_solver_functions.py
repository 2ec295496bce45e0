"""What functions of solvers read and write besides arguments and captured values."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, fixed_point, root, root_scalar

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_core import UnsupportedError

A, STEP = 0.7, 1e-5
SOLVERS = {
    "quad": lambda f: quad(lambda t: f(t), 0.0, 1.0)[0],
    "brentq": lambda f: brentq(lambda x: x + f(x) - 1.0, 0.0, 1.0),
    "root": lambda f: root(lambda x: x + f(x) - 1.0, [0.5]).x[0],
    "fixed_point": lambda f: fixed_point(lambda x: 1.0 - 0.3 * f(x), 0.5),
}
MODES = {"grad": lambda f: grad(f)(A), "jvp": lambda f: jvp(f, (A,), (1.0,))[1]}
MEMO: dict[str, float] = {}
CONSTANTS = {"c": 2.0}


class Holder:
    c = 3.0


HOLDER = Holder()


def scaled(x):
    return scaled.c * x


vars(scaled)["c"] = 2.0


def scaled_by_program(x):
    return scaled_by_program.a * x


# what has no derivative: each is a program of a solver and a number


def from_generator(solve, a):
    it = (a for _ in range(9999))
    return solve(lambda x: next(it) * x)


def from_repeat(solve, a):
    it = itertools.repeat(a)
    return solve(lambda x: next(it) * x)


def from_map(solve, a):
    it = map(lambda k: a * 2.0, range(9999))  # noqa: C417  (the iterator is tested)
    return solve(lambda x: next(it) * x)


def from_loop(solve, a):
    it = itertools.cycle([a])

    def f(x):
        for b in it:
            return b * x
        return x

    return solve(f)


def from_sum(solve, a):
    it = itertools.cycle([a])
    return solve(lambda x: sum(itertools.islice(it, 1)) * x)


def from_attribute(solve, a):
    def g(x):
        return g.a * x

    g.a = a
    return solve(g)


def from_global_function(solve, a):
    scaled_by_program.a = a
    return solve(scaled_by_program)


def by_default(solve, a):
    memo = {}
    return solve(lambda x: memo.setdefault("a", a * a) * x)


def by_memo(solve, a):
    memo = {}

    def f(x):
        if "a" not in memo:
            memo["a"] = a * a
        return memo["a"] * x

    return solve(f)


def by_global_memo(solve, a):
    MEMO.clear()

    def f(x):
        if "a" not in MEMO:
            MEMO["a"] = a * a
        return MEMO["a"] * x

    return solve(f)


def into_list(solve, a):
    seen = []

    def f(x):
        seen.append(a)
        return x

    solve(f)
    return seen[0]


def into_entry(solve, a):
    total = [0.0]

    def f(x):
        total[0] = total[0] + a * 1.0
        return x

    solve(f)
    return total[0]


def into_dict(solve, a):
    found = {}

    def f(x):
        found["a"] = a * 2
        return x

    solve(f)
    return found["a"]


def into_variable(solve, a):
    found = 0.0

    def f(x):
        nonlocal found
        found = a * 2
        return x

    solve(f)
    return found


def into_attribute(solve, a):
    def f(x):
        f.found = a * 2
        return x

    solve(f)
    return f.found


def into_instance(solve, a):
    holder = Holder()

    def f(x):
        holder.found = a * 2
        return x

    solve(f)
    return holder.found


def argument_into_list(solve, a):
    seen = []

    def f(x):
        seen.append(x)
        return a * x

    solve(f)
    return seen[-1] * 1.0


REFUSED = (
    from_generator, from_repeat, from_map, from_loop, from_sum, from_attribute,
    from_global_function, by_default, by_memo, by_global_memo, into_list, into_entry,
    into_dict, into_variable, into_attribute, into_instance, argument_into_list,
)  # fmt: skip


# what has one


def by_constant(solve, a):
    return solve(lambda x: CONSTANTS["c"] * HOLDER.c * a * scaled(x))


def by_entries(solve, a):
    values = [a, {"b": a * 2.0}]
    return solve(lambda x: values[0] * values[1]["b"] * x)


def by_own_list(solve, a):
    named, holder = {"a": a}, Holder()
    holder.a = a

    def f(x):
        own = []
        for b in [named["a"], holder.a]:
            own.append(b * x)  # noqa: PERF401  (the write is tested)
        return sum(y for y in own)

    return solve(f)


def by_counter(solve, a):
    count = itertools.count()
    return solve(lambda x: a * x + 0.0 * next(count))


ALLOWED = by_constant, by_entries, by_own_list, by_counter


def pairs(programs):
    """Each program in both modes, with solvers in turn; all solvers are `full`."""
    for i, program in enumerate(programs):
        for j, (mode, name) in enumerate(itertools.product(MODES, SOLVERS)):
            everyday = j % 4 == (i + (mode == "jvp")) % 4
            marks = () if everyday else pytest.mark.full
            yield pytest.param(program, mode, name, marks=marks)


@pytest.mark.parametrize(("program", "mode", "name"), [*pairs(REFUSED)])
def test_a_value_that_no_rule_sees_is_refused(program, mode, name):
    with pytest.raises(UnsupportedProgram, match=r"derivative|write|outside"):
        MODES[mode](lambda a: program(SOLVERS[name], a))


@pytest.mark.parametrize(("program", "mode", "name"), [*pairs(ALLOWED)])
def test_constants_entries_and_own_objects_are_followed(program, mode, name):
    def f(a):
        return program(SOLVERS[name], a)

    slope = (f(A + STEP) - f(A - STEP)) / (2 * STEP)
    np.testing.assert_allclose(MODES[mode](f), slope, rtol=1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_fixed_point_that_is_not_isolated_has_no_derivative(mode):
    with pytest.raises(UnsupportedError, match="not isolated"):
        MODES[mode](lambda a: fixed_point(lambda x: x * 1.0, a))


def test_two_functions_in_one_second_derivative_are_refused_in_words():
    def f(a):
        return root_scalar(
            lambda x: (x * x - a, 2 * x, 2.0), x0=1.0, fprime=True, fprime2=True
        ).root

    with pytest.raises(UnsupportedError, match="functions of their own"):
        grad(f)(A)
