"""Functions with rules that say another derivative than the true one: which one ran?

Each maker gives a function of numbers or arrays, and its derivative by the rule.
"""

import numpy as np

import rules_core as rc
from rules_autodiff import grad
from rules_core import NoTangent, rrule

X = np.array([0.4, -1.1, 2.3])


def cube():
    """A primitive of its own, without rules yet."""

    @rc.primitive
    def cube(x):
        return x * x * x

    return cube


def by_partials():
    function = cube()
    rc.scalar_rule(function, lambda y, x: (6.0 * x * x,))
    return function, lambda x: 6.0 * x * x


def by_rrule():
    function = cube()

    @rrule.define(function)
    def cube_rrule(x):
        def cube_pullback(dy):
            return NoTangent(), 9.0 * x * x * dy

        return x * x * x, cube_pullback

    return function, lambda x: 9.0 * x * x


def by_lazy_rrule():
    function = cube()

    @rrule.define(function)
    def cube_rrule(x):
        def cube_pullback(dy):
            return NoTangent(), rc.thunk(lambda: 6.0 * x * x * dy)

        return x * x * x, cube_pullback

    return function, lambda x: 6.0 * x * x


def by_needs():
    function = cube()

    @rrule.define(function)
    def cube_rrule(x, *, needs):
        assert needs == (True,)

        def cube_pullback(dy):
            return NoTangent(), 6.0 * x * x * dy

        return x * x * x, cube_pullback

    return function, lambda x: 6.0 * x * x


def by_config():
    function = cube()

    @rrule.define(function, config=rc.RuleConfig)
    def cube_rrule(config, x):
        _, pullback = rc.rrule_via_ad(config, lambda t: t * t, x)

        def cube_pullback(dy):
            return NoTangent(), 3.0 * x * pullback(dy)[1]

        return x * x * x, cube_pullback

    return function, lambda x: 6.0 * x * x


def by_linear_rule():
    @rc.primitive
    def triple(x):
        return 3.0 * x

    rc.linear_rule(triple, lambda dy, x: 6.0 * dy)
    return triple, lambda x: 6.0 + 0.0 * x


def plain_function():
    def cube(x):
        return x * x * x

    rc.scalar_rule(cube, lambda y, x: (6.0 * x * x,))
    return cube, lambda x: 6.0 * x * x


MAKERS = [
    by_partials, by_rrule, by_lazy_rrule, by_needs, by_config, by_linear_rule,
    plain_function,
]  # fmt: skip


def fresh(f):
    """The function with code of its own: what is written for a code object is kept."""
    f.__code__ = f.__code__.replace()
    return f


def settled(f, *args, **options):
    """The gradient after some calls, when code is there."""
    for _ in range(3):
        grad(f, **options)(*args)
    return grad(f, **options)(*args)
