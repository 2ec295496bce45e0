"""The lifted program is the program: the standard library's numeric modules, and SciPy.

Every day some of the calls are looked at, at night all of them. How many are refused is
counted, so that refusals cannot hide everything.
"""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from operator import add, mul

import pytest

from rules_autodiff import vjp
from rules_autodiff._hooks import calls as calls_module
from rules_autodiff._replacements import builtins as builtins_module
from tests.engine.library_calls import GIVEN, possible, sample, walked
from tests.engine.oracle_library import difference, disagreement, told_of
from tests.engine.oracle_lifted import REFUSED, RETURNED

KINDS = tuple(GIVEN)
FEW = ("float", "rows as arrays")

# What is known to differ, and why.
KNOWN = {
    "hash": "of an object, by its address",
    "copy(reversed(v))": "an array is iterated by a generator, which has no copies",
    "copy(iter(v))": "an array is iterated by a generator, which has no copies",
    "o.conjugate(x)": "an `out` by position",
    **dict.fromkeys(
        (
            "linalg.cho_factor(",
            "linalg.det(a, v",
            "linalg.inv(a, v",
            "linalg.sqrtm(a, ",
            "scipy.special.factorial(2, v)",
            "scipy.special.y0_zeros(2, v)",
            "scipy.special.y1_zeros(2, v)",
            "scipy.special.y1p_zeros(2, v)",
        ),
        "a list or an array in place of a flag",
    ),
    **dict.fromkeys(
        ("fmin_l_bfgs_b(lambda a", "fmin_ncg(lambda a", "fmin_tnc(lambda a"),
        "a number in place of a gradient, which SciPy ignores or divides by",
    ),
    **dict.fromkeys(
        (
            "linalg.cholesky_banded(v, 2)",
            "linalg.det(a, 2)",
            "linalg.lu_factor(v, 2)",
            "scipy.signal.sweep_poly(v, w, v)",
        ),
        "SciPy leaves other numbers in its argument, the rule does not",
    ),
    **dict.fromkeys(
        ("interpolate.barycentric_interpolate(", "interpolate.krogh_interpolate("),
        "the last bit: other sums than SciPy's",
    ),
    **dict.fromkeys(
        ("interpolate.lagrange(", "interpolate.pade("),
        "a polynomial of the pack's own class",
    ),
    "interpolate.griddata(v": "of a list, which SciPy cannot index",
    "linalg.sqrtm(2, v": "a list in place of a flag",
    "optimize.root(lambda q: (q[0]": "one equation that returns a number: an array",
    "odeint(lambda t, q: -x * q, (0.0": "a slope of another shape than the state",
    "scipy.signal.deconvolve(2, v)": "whole numbers, and no quotient but a list",
    "scipy.signal.freqs(v, w, v)": "the result is a copy of an argument",
    **dict.fromkeys(
        ("scipy.signal.bode(", "scipy.signal.freqresp("),
        "the result is a copy of an argument",
    ),
    **dict.fromkeys(
        (
            "scipy.signal.StateSpace(x",
            "scipy.signal.TransferFunction(",
            "scipy.signal.ZerosPolesGain(",
            "scipy.signal.dlti(",
            "scipy.signal.lti(",
        ),
        "a system of the pack's own class",
    ),
    "scipy.signal.StateSpace(lambda": "a function in place of a matrix",
    "integrate.qmc_quad(": "other random numbers at each call",
    **dict.fromkeys(
        ("integrate.nsum(", "integrate.tanhsinh("),
        "OptimizeResult, the public kind of SciPy's class of results",
    ),
    "scipy.special.zeta(v, w, v)": "an `out` by position",
    "o.__divmod__": "of an array and what is no number: two operations for one",
}
# NumPy's number, which is a float, where SciPy returns Python's.
NUMPYS = ("integrate.quad(", "optimize.linprog(", "optimize.milp(", "optimize.nnls(")
# A search down a line that has no end takes half a minute.
ENDLESS = "optimize.fmin_cg(lambda a: a * x"
# Equal numbers share the derivative: the least of them is an object of its own.
SHARED = ("min(", "max(")
OTHER_OBJECT = {"'True' but 'False'"}


def is_known(text, said):
    shares = any(f in text for f in SHARED) and set(said.values()) == OTHER_OBJECT
    if any(f in text for f in NUMPYS):
        return all(re.match(r"\('float', .* but \('float64'", x) for x in said.values())
    return shares or any(part in text for part in KNOWN)


def outcomes(text, kind):
    """What came of a call in each mode."""
    modes = ("plain", "reverse", "forward", "alone", "straight")
    return {mode: told_of(text, kind, mode) for mode in modes}


def faults_of(found, kind):
    """How a call differs from itself in derivatives."""
    said = {
        "reverse": difference(found["plain"], found["reverse"]),
        "forward": difference(found["plain"], found["forward"]),
        "straight": difference(found["alone"], found["straight"]),
        "derivative": disagreement(found["reverse"], found["forward"], kind),
    }
    return {name: text for name, text in said.items() if text}


def faults(texts, kinds=KINDS, known=is_known):
    """What differs, by call and kind of argument; and the numbers of outcomes."""
    found, counted = {}, Counter()
    for text in texts:
        if all(told_of(text, kind, "plain").kind != RETURNED for kind in kinds):
            continue
        for kind in kinds:
            each = outcomes(text, kind)
            if each["plain"].kind == RETURNED:
                counted.update(
                    (mode, each[mode].kind) for mode in ("reverse", "forward")
                )
                counted["straight", each["straight"].kind] += 1
            said = faults_of(each, kind)
            if said and not known(text, said):
                found[text, kind] = said
    return found, counted


def refused(counted, mode):
    """The share of the calls that work plainly, and are refused."""
    every = sum(n for (each, _), n in counted.items() if each == mode)
    return counted[mode, REFUSED] / every


# How much may be refused: what takes parameters of random numbers, exact fractions and
# statistics; and, of SciPy, all for which there is no rule.
MOST = {"reverse": 0.25, "forward": 0.25, "straight": 0.995}
MOST_SCIPY = {"reverse": 0.95, "forward": 0.95, "straight": 1.0}


def assert_no_more_refused(counted, most):
    shares = {mode: refused(counted, mode) for mode in most}
    assert all(shares[mode] <= most[mode] for mode in most), shares


def test_some_calls():
    found, counted = faults(sample(possible(), 150))
    assert found == {}
    assert sum(counted.values()) > 1500
    assert_no_more_refused(counted, MOST)


def test_some_calls_of_scipy():
    found, counted = faults(sample(possible(scipy=True), 120), FEW)
    assert found == {}
    assert_no_more_refused(counted, MOST_SCIPY)


SLICES = 24


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(SLICES))
def test_all_calls(part):
    found, counted = faults(sample(possible(), SLICES, part))
    assert found == {}
    assert_no_more_refused(counted, MOST)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(4))
def test_all_calls_of_scipy(part):
    texts = [t for t in sample(possible(scipy=True), 4, part) if ENDLESS not in t]
    found, counted = faults(texts, FEW)
    assert found == {}
    assert_no_more_refused(counted, MOST_SCIPY)


def test_the_walk_knows_what_it_should():
    found = set(walked())
    assert {"math.fsum", "heapq.merge", "float:__mul__", "random.shuffle"} <= found
    assert {"statistics.fmean", "decimal.Decimal:sqrt", "array.array:append"} <= found
    assert len(found) > 800
    assert len(walked(scipy=True)) > 600


# What was found to differ, which the samples may leave out.
FOUND = """
    complex(fractions.Fraction(1, 3), x)
    itertools.count(0, x)
    itertools.count(x, fractions.Fraction(1, 3))
    itertools.count(v)
    itertools.accumulate('d', v)
    operator.truediv(x, 0)
    operator.itruediv(x, 0)
    operator.mod(x, 0)
    operator.concat(v, w)
    operator.iconcat([1, 2], v)
    operator.iadd(decimal.Decimal(2), x)
    operator.imul(v, v)
    operator.pos(x)
    divmod(2.0, x)
    bisect.bisect_left(*v)
    map(float, v)
    round(x, 2)
    random.sample(v, k=2)
    functools.reduce(lambda *a: sum(a), x, y)
    collections.UserDict(v)
    dict(collections.deque(v))
    heapq.nlargest(1, v)
    x.__eq__(v)
    x.__mul__((x, y))
    x.__pow__(2.0, None)
    complex(0.5, 0.25).__rpow__(x)
    float.__divmod__(x, 'x')
    dict(enumerate(v)).__or__(v)
    math.fsum(x)
    math.atan2(decimal.Decimal(2), x)
    math.hypot(fractions.Fraction(1, 3), x)
    scipy.special.airy(2, v)
    scipy.special.fresnel(2, v)
    scipy.special.gammainc(v, w)
    scipy.special.zeta(v, w)
""".strip().split("\n    ")


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("call", FOUND)
def test_calls_that_differed(call):
    found, counted = faults([f"r = taken({call})"], known=lambda *_: False)
    assert found == {}
    assert counted


FOUND_IN_SCIPY = """
    scipy.integrate.trapezoid(a, 2)
    scipy.linalg.cholesky(x)
    scipy.linalg.solve(x, y)
    scipy.linalg.toeplitz(v, 2)
    scipy.optimize.fixed_point(lambda t, q: -x * q, (0.0, 1.0), [1.0])
    scipy.optimize.lsq_linear(x, y)
    scipy.optimize.newton(lambda q: (q[0] - x) ** 2, [0.1])
    scipy.signal.coherence(v, w)
    scipy.signal.kaiser_atten(2, x)
    scipy.special.lambertw(v)
    scipy.special.legendre_p(2, v)
    scipy.special.log_softmax(v)
    scipy.special.softmax(v, axis=0)
    scipy.special.spherical_jn(v, w)
""".strip().split("\n    ")


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("call", FOUND_IN_SCIPY)
def test_calls_of_scipy_that_differed(call):
    found, counted = faults([f"r = taken({call})"], FEW, known=lambda *_: False)
    assert found == {}
    assert counted


def test_the_first_of_equal_numbers_is_the_least():
    """Zeros of both signs, and infinities, whose difference is no number."""
    for f, pair in itertools.product(
        (min, max), [(-0.0, 0.0), (0.0, -0.0), (math.inf, math.inf), (1.0, 1.0)]
    ):
        value, pullback = vjp(f, *pair)
        assert repr(value) == repr(f(*pair))
        assert pullback(1.0) == (0.5, 0.5)


# The faults that were there, put back: the oracle must see each of them.


def test_it_sees_equal_numbers_that_are_subtracted(monkeypatch):
    def handle(run, *args, **_):
        items = list(run.iter(args[0])) if len(args) == 1 else list(args)
        best = min(items)
        for item in items:
            share = run.truediv(run.sub(item, best), float(len(items)))
            best = run.add(best, share) if item == best else best
        return best

    call = ["r = taken(builtins.min(v, key=None))"]
    assert not faults(call, ["odd"])[0]
    monkeypatch.setitem(calls_module.HANDLERS, min, handle)
    assert faults(call, ["odd"])[0]


def test_it_sees_a_count_that_multiplies(monkeypatch):
    def handle(run, start, step):
        return (run.add(start, run.mul(step, i)) for i in itertools.count())

    call = ["r = taken(itertools.count(-0.0, x))"]
    assert not faults(call)[0]
    monkeypatch.setitem(calls_module.HANDLERS, itertools.count, handle)
    assert faults(call)[0]


def test_it_sees_a_number_of_which_a_part_is_lost(monkeypatch):
    call = ["r = taken(complex(fractions.Fraction(1, 3), x))"]
    assert not faults(call)[0]
    monkeypatch.setitem(calls_module.HANDLERS, complex, lambda run, x, _: complex(x))
    assert faults(call)[0]


@pytest.mark.parametrize(("special", "operator"), [("__mul__", mul), ("__add__", add)])
def test_it_sees_special_methods_that_are_operators(monkeypatch, special, operator):
    calls = [f"r = taken(x.{special}(v))", f"r = taken(float.{special}(x, v))"]
    assert not faults(calls)[0]
    monkeypatch.setattr(builtins_module, "asks_nobody", lambda *_: False)
    assert len(faults(calls, ["float"])[0]) == 2
    assert (1.5).__mul__(Fraction(1)) is NotImplemented
    assert operator(1.5, Fraction(1)) is not NotImplemented


def test_it_sees_errors_in_other_words(monkeypatch):
    calls = ["r = taken(operator.countOf(x, 0))", "r = taken(divmod(v, x))"]
    kinds = ["float", "array", "rows as arrays"]
    assert not faults(calls, kinds)[0]
    monkeypatch.setattr(calls_module, "raise_own", lambda *_: None)
    assert {text for text, _ in faults(calls, kinds)[0]} == set(calls)
