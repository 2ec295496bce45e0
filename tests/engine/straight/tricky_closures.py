"""Tricky programs: local functions, which read variables that change later."""

import functools

import numpy as np

from tests.engine.straight.tricky import Cases, X

CLOSURES = Cases()
LATER = "reads variables of others"


@CLOSURES.add(1.5)
def what_changes_before_the_call(x):
    k = 1.0
    g = lambda w: w * k
    k = x * 2.0
    return g(x)


@CLOSURES.add(1.5)
def what_changes_between_calls(x):
    k = x

    def g(w):
        return w * k

    t = 0.0
    for _ in range(3):
        t = t + g(x)
        k = k * t
    return t * k


@CLOSURES.add(1.5)
def default_values_are_taken_at_once(x):
    k = x * 3.0

    def g(w, q=k):
        return w * q

    k = 100.0 * x
    return g(x) + g(x, k)


@CLOSURES.add(1.5)
def what_is_written_between_calls(x):
    y = np.zeros(3)

    def g(i):
        return y[i] * 2.0

    y[0] = x
    a = g(0)
    y[0] = x * x
    return a * g(0)


@CLOSURES.add(1.5, refused="view of its argument")
def a_written_array_of_the_function_around(x):
    y = np.zeros(3)
    g = lambda: y
    y[0] = x
    z = g()
    y[0] = 5.0
    return z[0] * x


@CLOSURES.add(1.2)
def it_calls_itself(x):
    def g(w, n):
        if n == 0:
            return w * x
        return g(w * x, n - 1) + w

    return g(x, 3)


@CLOSURES.add(1.5)
def functions_that_are_returned(x):
    def make(k):
        return lambda w: w * k

    a, b = make(x), make(x * x)
    return a(2.0) * b(x)


@CLOSURES.add(1.5)
def a_parameter_that_changes_before_the_return(x):
    def make(k):
        def inner(w):
            return w * k

        k = k * 2.0
        return inner

    return make(x)(3.0)


@CLOSURES.add(1.5, refused=LATER)
def a_returned_function_that_reads_further_out(x):
    k = x

    def make():
        return lambda w: w * k

    g = make()
    k = k * 2.0
    return g(x)


@CLOSURES.add(1.5, refused=LATER)
def returned_functions_of_which_one_reads_further_out(x):
    k = x

    def make(j):
        return (lambda w: w * j), (lambda w: w * k)

    g, h = make(x)
    k = k * 2.0
    return g(x) * h(x)


def itself(f):
    return f


@CLOSURES.add(1.5, refused=LATER)
def a_function_handed_back(x):
    k = x
    g = itself(lambda w: w * k)
    k = k * 2.0
    return g(x)


@CLOSURES.add(1.5, refused=LATER)
def composed_functions(x):
    k = x

    def composed(f, g):
        return lambda w: f(g(w))

    h = composed(lambda w: w * k, lambda w: w + k)
    k = k * 2.0
    return h(x)


@CLOSURES.add(1.5, refused=LATER)
def an_argument_that_changes_after_the_return(x):
    def outer(k):
        def inner(w):
            return w * k * x

        return inner

    p, q = outer(2.0), outer(x)
    x = x * 3.0
    return p(1.0) * q(2.0)


@CLOSURES.add(1.5, refused="put away")
def a_partial_function(x):
    k = x
    g = lambda w: w * k
    h = functools.partial(g, x)
    k = k * 2.0
    return h()


@CLOSURES.add(1.5, refused="put away")
def functions_in_a_tuple(x):
    k = x
    fs = (lambda w: w * k, lambda w: w + k)
    k = k * 2.0
    return fs[0](x)


@CLOSURES.add(1.5)
def a_loop_over_functions(x):
    t = 0.0
    for f in (lambda w: w * t, lambda w: w + t):  # noqa: B023  it is called in its round
        t = f(x) + 1.0
    return t


@CLOSURES.add(1.5)
def passed_on_twice(x):
    k = x

    def applied(f, n):
        return f(n)

    def g(w):
        return w * k

    r = applied(g, x)
    k = k * 2.0
    return r * applied(g, x)


@CLOSURES.add(1.5, refused="what a local function reads")
def a_test_that_assigns_what_it_calls(x):
    k = 1.0
    g = lambda w: w * k
    if g(x) > (k := 5.0 * x):
        return k
    return g(x) * k


@CLOSURES.add(1.5, refused="one of several ways")
def a_test_that_assigns_at_its_end(x):
    t = x * x
    if 5.0 < x < (t := 2.0 * x):
        pass
    return t


@CLOSURES.add(1.1)
def a_test_that_assigns(x):
    t = 0.0
    for _ in range(3):
        if (t := t + x) > 2:
            t = t * x
    return t


@CLOSURES.add(X)
def what_a_loop_has_left(x):
    def g(w):
        return w * v

    t = 0.0
    for v in x:  # noqa: B007  a local function reads it
        t = t + g(x[0])
    return t * g(2.0)
