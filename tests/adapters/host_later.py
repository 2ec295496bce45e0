"""Host functions that read what a program changes before the pullback.

What is wrapped is called with the framework's wrapper, so that each file for a
framework has the same programs.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, rrule
from rules_scipy import integrate
from tests.adapters import later

P = 1.3
POWERS = (1.0, 2.0, 3.0)


def power_sum(x):
    return sum(x**k for k in POWERS)


def power_slope(x):
    return sum(k * x ** (k - 1) for k in POWERS)


def power_curve(x):
    return sum(k * (k - 1) * x ** (k - 2) for k in POWERS)


# Variables that are captured: put back, and so right.


def by_variable(wrapped, x):
    return sum(wrapped(lambda u: u**k)(x) for k in POWERS)  # noqa: B023  what is tested


def by_one_function(wrapped, x):
    k, total = 0.0, 0.0
    f = wrapped(lambda u: u**k)
    for k in POWERS:  # noqa: B007  the function reads it
        total = total + f(x)
    return total


def by_helper(wrapped, x):
    k, total = 0.0, 0.0

    def helper(u):
        return u**k

    f = wrapped(lambda u: helper(u))
    for k in POWERS:  # noqa: B007  the function reads it
        total = total + f(x)
    return total


def by_own_state(wrapped, x):
    n = 0.0

    def counted(u):
        nonlocal n
        n += 1
        return u**n

    f = wrapped(counted)
    return f(x) + f(x) + f(x)


RIGHT = (by_variable, by_one_function, by_helper, by_own_state)

# A state of the function's own, of which its value depends.

count, counts = 0, [0]


def counting_in_a_global(u):
    global count  # noqa: PLW0603  what is tested
    count += 1
    return count * u**3


def counting_in_a_list(u):
    counts[0] += 1
    return counts[0] * u**3


COUNTING = (counting_in_a_global, counting_in_a_list)

# What `later.READS` reads, in a host function of its own.


def reading(wrapped, kind):
    """A function that reads, and what changes the value that it reads."""
    read, change = later.READS[kind]
    return wrapped(lambda u: read() * u**3), change


class Net:
    def __init__(self):
        self.w = np.ones(1)

    def __call__(self, u):
        return self.w[0] * u**3


def own_attribute(u):
    return own_attribute.k * u**3


def with_default(u, k=2.0):
    return k * u**3


def net(wrapped):
    held = Net()
    return wrapped(held), lambda k: held.w.__setitem__(0, k)


def by_captured_array(wrapped):
    k = np.ones(1)
    return wrapped(lambda u: k[0] * u**3), lambda v: k.__setitem__(0, v)


def by_attribute(wrapped):
    own_attribute.k = 2.0
    return wrapped(own_attribute), lambda k: setattr(own_attribute, "k", k)


def by_default_of_helper(wrapped):
    def helper(u, k=2.0):
        return k * u**3

    tuples = {k: (k,) for k in (2.0, 0.5)}

    def change(k):
        helper.__defaults__ = tuples[k]

    return wrapped(lambda u: helper(u)), change


WRITTEN = (net, by_captured_array, by_attribute, by_default_of_helper)

# Arguments: arrays are copied, instances compared.


@rc.primitive(host=True, out="x")
def scaled(x, w):
    return x * w


@rrule.define(scaled)
def scaled_rrule(x, w):
    def pullback(dy):
        return NoTangent(), dy * w, NoTangent()

    return scaled(x, w), pullback


@rc.primitive
def weighed(x, weights):
    return x * weights["w"][0]


@rrule.define(weighed)
def weighed_rrule(x, weights):
    def pullback(dy):
        return NoTangent(), dy * weights["w"][0], NoTangent()

    return weighed(x, weights), pullback


@dataclass
class Weights:
    w: object


def buffer_alone(x):
    w, total = np.zeros(()), 0.0
    for k in POWERS:
        w[...] = k
        total = total + scaled(x, w)
    return total


def buffer_in_a_dict(x):
    w, total = np.zeros(1), 0.0
    for k in POWERS:
        w[0] = k
        total = total + weighed(x, {"w": w})
    return total


def buffer_of_a_solver(x):
    w, total = np.zeros(1), 0.0
    for k in POWERS:
        w[0] = k
        args = (x, w)
        total = total + integrate.quad(lambda t, a, w: a * w[0], 0.0, 1.0, args=args)[0]
    return total


BUFFERS = (
    buffer_alone,
    buffer_in_a_dict,
    pytest.param(buffer_of_a_solver, marks=pytest.mark.full),
)


class Setting:
    def __init__(self):
        self.k = 2.0


def instance_of_a_solver(x, setting):
    args = (x, setting)
    return integrate.quad(lambda t, a, s: a**3 * s.k, 0.0, 1.0, args=args)[0]


# Adjoints that read a setting.

setting = Setting()


def doubled(x):
    return setting.k * x


by_setting = rc.linear(doubled, adjoint=doubled, out="x")
