"""Tricky programs: names, calls, and what stands outside of the program."""

import functools

import numpy as np

from tests.engine.straight.tricky import Cases, M, X

FUNCTIONS = Cases()
v = 3.0
FACTORS = np.array([2.0, -1.0, 0.5])
fit, one = 2.0, 3.0


@FUNCTIONS.add(*[1.0 + 0.1 * i for i in range(10)])
def helper_names(fit, one, summed, times, np_zeros, note, caps, f, v1, dz):
    summed = fit * one + summed
    caps = caps * times
    note = np_zeros * note
    dz = dz * v1 * f
    return summed * caps + note * dz


@FUNCTIONS.add(X)
def helper_names_of_globals(x):
    spread = np.sum(x * fit)
    vdot = spread * one
    return vdot * np.sum(x + spread)


@FUNCTIONS.add(1.5)
def shadowed_builtins(x):
    sum = x * 2.0  # noqa: A001  a name of the language on purpose
    len = sum * x  # noqa: A001  likewise
    range = 3.0 * len  # noqa: A001  likewise
    float = x  # noqa: A001  likewise
    type = float * range  # noqa: A001  likewise
    return type * len


@FUNCTIONS.add(X, 1.5, 2.0)
def shadowed_loops(x, enumerate, reversed):
    t = 0.0
    for w in x:
        t += w * enumerate * reversed
    return t


@FUNCTIONS.add(1.5, refused="two underscores")
def underscores(x):
    x__bar = x * 2.0
    return x__bar * x


@FUNCTIONS.add(X)
def a_comprehension_shadows_a_global(x):
    s = sum(v * v for v in x)
    return s * v


@FUNCTIONS.add(X)
def a_comprehension_twice(x):
    return sum(w * x[0] for w in x) * sum(w * w for w in x if w > 0)


@FUNCTIONS.add(X)
def a_comprehension_over_its_own_name(x):
    return sum(x * x for x in x) * x[0]


@FUNCTIONS.add(X)
def a_comprehension_in_another(x):
    return sum(sum(i * j for j in x) * i for i in x) * x[1]


@FUNCTIONS.add(X)
def a_comprehension_of_another_variable(x):
    i = x[0] * 2.0
    t = sum(i * i for i in x)
    return t * i


@FUNCTIONS.add(1.5, 2.0)
def an_argument_unused(x, y):
    return x * x


@FUNCTIONS.add(X, 1.5)
def independent_of_one(x, y):
    return y * 2.0


@FUNCTIONS.add(1.5)
def a_constant(x):
    return 3.0


@FUNCTIONS.add(X)
def a_constant_array(x):
    return FACTORS


@FUNCTIONS.add(1.5)
def the_number_itself(x):
    return x


def scaled(w, by=2.0, *, more=1.0):
    return w * by + more


@FUNCTIONS.add(1.5)
def defaults_and_keywords(x):
    return scaled(x) * scaled(by=x, w=3.0) * scaled(x, more=x) * scaled(x, x)


@FUNCTIONS.add(1.5)
@FUNCTIONS.add(1.5, 0.5)
def defaults_of_its_own(x, y=2.0, w=FACTORS):
    return x * y * np.sum(w * x)


def even(x, n):
    if n == 0:
        return x * x
    return odd(x, n - 1) * x


def odd(x, n):
    if n == 0:
        return x
    return even(x, n - 1) * x


@FUNCTIONS.add(X, 3)
@FUNCTIONS.add(1.5, 4)
def functions_that_call_each_other(x, n):
    return even(x, n) * x


def rising(w, n):
    if n > 0:
        return falling(w, n - 1) + w
    return w * 2.0


def falling(w, n):
    return rising(w, n) * w


@FUNCTIONS.add(X)
def arrays_of_functions_that_call_each_other(x):
    return np.sum(rising(x, 2) * M)


def pair(w, n):
    if n == 0:
        return w, w * w
    a, b = pair(w * 0.5, n - 1)
    return a * b, a + b


@FUNCTIONS.add(1.5, refused=".")
def recursion_with_two_results(x):
    a, b = pair(x, 3)
    return a * b


def mixed(w, n):
    return n, np.sum(w), w * n


@FUNCTIONS.add(X)
def results_of_several_kinds(x):
    n, s, w = mixed(x, 2)
    _, t, _ = mixed(w, n)
    return n * s * t + np.sum(w)


@FUNCTIONS.add(X)
def a_result_unused(x):
    _, _, w = mixed(x, 3)
    mixed_again = mixed(w, 2)
    return np.sum(mixed_again[2] * x)


def passed_on(w):
    return w


@FUNCTIONS.add(X)
def one_argument_twice(x):
    return np.sum(passed_on(x) * passed_on(passed_on(x)))


@FUNCTIONS.add(1.5)
def one_variable_for_two_arguments(x):
    return scaled(x, x, more=x)


def decorated(g):
    @functools.wraps(g)
    def inner(x):
        return g(x) * 2.0

    return inner


@FUNCTIONS.add(1.5)
@decorated
def a_decorated_function(x):
    return x * x


def wrapped_helper(x):
    return x * 7.0


vars(wrapped_helper)["__wrapped__"] = scaled


@FUNCTIONS.add(1.5)
def a_helper_that_wraps_another(x):
    return wrapped_helper(x) * x


FIRST, SECOND = (lambda x: x * 2.0), (lambda x: x * x)  # two on one line
FUNCTIONS["first_lambda"] = FIRST, (1.5,), ""
FUNCTIONS["second_lambda"] = SECOND, (1.5,), ""


def renamed(x):
    return x * x * x


renamed.__name__ = "no name <at all>"
FUNCTIONS["a_function_without_an_identifier"] = renamed, (1.5,), ""


def made(bias, grid):
    def closure(x):
        return np.sum(grid * x) + bias * x[0]

    return closure


FUNCTIONS["a_closure"] = made(2, M), (X,), ""
FUNCTIONS["another_closure"] = made(np.float64(0.5), FACTORS), (X,), ""


@FUNCTIONS.add(X)
def local_functions(x):
    a = x[0] * 2.0

    def inner(w):
        return w * a

    g = lambda w, k=a: inner(w) * k
    s = g(x[1])
    a = s * 2.0
    return inner(s) * g(a) * a


@FUNCTIONS.add(X)
def a_local_function_in_a_loop(x):
    t = 0.0
    for i in range(3):
        g = lambda w: w * x[i] + t  # noqa: B023  it is called in its round
        t = g(x[0]) * 0.5
    return t * g(1.0)


@FUNCTIONS.add(1.5)
def a_function_by_another(x):
    def twice(g, w):
        return g(g(w))

    return twice(lambda w: w * x, twice(square, x))


def square(w):
    return w * w
