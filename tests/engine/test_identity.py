"""Identity and class of results: the same in a program and inside of a derivative."""

import dataclasses
import itertools

import numpy as np
import pytest
import scipy.special

from rules_autodiff import grad, jacfwd, jacrev, jvp, value_and_grad, vjp
from rules_autodiff.testing import check_program
from rules_core import NoTangent, linear_rule, opt_out, rrule
from rules_core.testing import isolated_rules
from rules_scipy.special import logsumexp

X = np.array([[0.3, -1.2, 2.0], [0.7, 1.1, -0.4], [0.1, 0.9, 1.6]])

# What gives its argument back, or a view of it, and what gives a copy.
SAME = {
    "astype(copy=False)": lambda y: y.astype(float, copy=False),
    "np.astype": lambda y: np.astype(y, np.float64, copy=False),
    "conj": lambda y: y.conj(),
    "conjugate": lambda y: y.conjugate(),
    "real": lambda y: y.real,
    "np.real": np.real,
    "np.real_if_close": np.real_if_close,
    "asarray": np.asarray,
    "asarray(float)": lambda y: np.asarray(y, float),
    "array(copy=False)": lambda y: np.array(y, copy=False),
    "array(copy=None)": lambda y: np.array(y, copy=None),
    "asarray_chkfinite": np.asarray_chkfinite,
    "require": lambda y: np.require(y, float),
    "nan_to_num": lambda y: np.nan_to_num(y, copy=False),
    "diff": lambda y: np.diff(y, n=0),
    "diag": lambda y: np.diag(np.diag(y)),
    "diag, a view": lambda y: np.asarray(np.diag(y)),
    "atleast_2d": lambda y: np.atleast_2d(y, 1.0)[0],
    "matrix_power": lambda y: np.linalg.matrix_power(y, 1),
    "positive": lambda y: +y,
    "np.conj": np.conj,
    "astype": lambda y: y.astype(float),
    "copy": lambda y: y.copy(),
    "array": np.array,
    "squeeze": np.squeeze,
    "ravel": np.ravel,
    "einsum": lambda y: np.einsum("ij->ji", y),
    "transposed": lambda y: y.T,
    "einsum, diagonal": lambda y: np.einsum("ii->i", y),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("name", SAME)
def test_writes_into_what_is_the_same(name, layout):
    """A write into the result is a write into the argument where NumPy says so."""
    give = SAME[name]

    def program(x):
        y = np.array(x * 2.0, order=layout)
        z = give(y)
        if z.flags.writeable:
            z -= 0.5 * z.mean()
        return y * y, z * 3.0

    check_program(program, X)


@pytest.mark.parametrize(
    "call", [logsumexp, scipy.special.logsumexp], ids=["ours", "SciPy"]
)
def test_a_number_where_the_function_gives_a_number(call):
    def program(x):
        first = total = call(x)
        total += call(2.0 * x)
        return first * total

    check_program(program, X)
    value, _, kind = vjp(lambda x: (call(x), type(call(x)).__name__), X, has_aux=True)
    assert kind == type(value).__name__ == type(call(X)).__name__


# Rules whose results are arguments.


def same(x):
    return x


def reversed_view(x):
    return x[::-1]


def same_in_a_tuple(x):
    return x, 2.0 * x


def pulled_back(dy):
    return NoTangent(), dy


def reversed_back(dy):
    return NoTangent(), dy[::-1]


def pair_back(dy):
    return NoTangent(), dy[0] + 2.0 * dy[1]


def in_pair(f):
    return lambda x: f(x)[0]


ALIASING = {
    "same": (same, same, pulled_back),
    "view": (reversed_view, reversed_view, reversed_back),
    "tuple": (in_pair(same_in_a_tuple), same_in_a_tuple, pair_back),
}


@pytest.fixture(params=ALIASING)
def aliasing(request):
    """A function whose result is an argument, and which has a reverse rule."""
    call, function, pull = ALIASING[request.param]
    with isolated_rules():
        rrule.define(function)(lambda x: (function(x), pull))
        yield call


@pytest.fixture(params=["reverse", "forward"])
def transform(request):
    if request.param == "reverse":
        return lambda f, x: value_and_grad(f)(x)
    return lambda f, x: jvp(f, (x,), (np.ones_like(x),))


def write_result(call, a):
    b = call(a)
    b *= 2.0
    return np.sum(a * b)


def write_argument(call, a):
    b = call(a)
    a += 1.0
    return np.sum(a * b)


def write_entry(call, a):
    b = call(a)
    a[0] = b[1] * 3.0
    return np.sum(a * b)


def write_view(call, a):
    part = a[1:]
    b = call(a)
    part[...] = 7.0
    return np.sum(a * b)


def write_both(call, a):
    a[1] = 3.0
    b = call(a)
    c = call(b)
    np.add(c, 1.0, out=c)
    return np.sum(a * b)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    "program", [write_result, write_argument, write_entry, write_view, write_both]
)
def test_writes_into_what_a_rule_gave_back_are_refused(program, aliasing, transform):
    with pytest.raises(Exception, match="is one of its arguments or a view of one"):
        transform(lambda x: program(aliasing, x * 1.0), X[0])


def test_without_writes_the_rule_is_followed(aliasing):
    def program(x):
        a = x * 1.0
        a[1] = a[0] * 3.0
        b = aliasing(a)
        c = a * b
        c *= 2.0
        return c + b

    check_program(program, X[0])


def test_opted_out_the_code_is_followed(transform):
    with isolated_rules():
        rrule.define(same)(lambda x: (x, pulled_back))
        opt_out(rrule, same, np.ndarray)
        value, _ = transform(lambda x: write_both(same, x * 1.0), X[0])
    assert value == write_both(lambda x: x, X[0].copy())
    check_program(lambda x: write_both(lambda a: a, x * 1.0), X[0])


def test_a_reversed_gradient_stays_reversed():
    """The rule says what the derivative by its argument is, also of an identity."""
    with isolated_rules():
        rrule.define(same)(lambda x: (x, lambda dy: (NoTangent(), -dy)))
        np.testing.assert_array_equal(grad(lambda x: np.sum(x + same(x)))(X), 0.0 * X)


# Derivatives of derivatives: what the engine writes itself, and takes back.

STEPS = {
    "jvp": lambda f: lambda x: jvp(f, (x,), (np.cos(x),))[1],
    "vjp": lambda f: lambda x: vjp(f, x)[1](np.cos(x))[0],
    "jacfwd": lambda f: lambda x: jacfwd(f)(x) @ X[2],
    "jacrev": lambda f: lambda x: X[2] @ jacrev(f)(x),
}
WORDS = [word for order in (1, 2, 3) for word in itertools.product(STEPS, repeat=order)]


def unwritten(call, x):
    return np.sin(call(x)) * call(call(x * x)) + call(x)


def written_before(call, x):
    a = x * 1.0
    a[1] = a[0] * 3.0
    a *= x
    return call(a) * np.sin(call(a)) * x


@pytest.mark.covering(every=26)
@pytest.mark.parametrize("program", [unwritten, written_before])
@pytest.mark.parametrize("word", WORDS, ids="-".join)
def test_what_the_engine_puts_back_is_no_write_of_the_program(word, program):
    """Tangents and cotangents go through rules that return their arguments, too."""

    def derived(call):
        f = lambda x: program(call, x)
        for step in word:
            f = STEPS[step](f)
        return f(X[0].copy())

    with isolated_rules():
        linear_rule(same, lambda dy, x: (dy,), argnums=(0,))
        found = derived(same)
    np.testing.assert_allclose(found, derived(lambda x: x), rtol=1e-12, atol=1e-12)


@dataclasses.dataclass
class Box:
    value: np.ndarray


def test_containers_that_a_rule_gave_back(transform):
    def listed(x):
        row = [x * 1.0, x]
        again = same(row)
        again.append(x * 3.0)
        return np.sum(row[-1] * again[0])

    def boxed(x):
        box = Box(x * 1.0)
        again = same(box)
        again.value = x * 3.0
        return np.sum(box.value)

    def read(x):
        row = [x * 1.0, x]
        return np.sum(same(row)[0] * 2.0)

    with isolated_rules():
        rrule.define(same)(lambda x: (x, pulled_back))
        for program in (listed, boxed):
            with pytest.raises(Exception, match="is one of its arguments"):
                transform(program, X[0])
        assert transform(read, X[0])[0] == read(X[0])


def test_rules_with_tangents_of_rows():
    """Some results are views, others are not: each has its own derivative."""

    def program(x):
        y = x * 1.0
        a, b, c = np.atleast_2d(y, 2.0, y[0])
        a *= 3.0
        c *= 2.0
        d, e = np.broadcast_arrays(y, y[1:2])
        return a * 2.0, b, c * y, d * e

    check_program(program, X)
