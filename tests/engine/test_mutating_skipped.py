"""Mutating rules are used by every spelling of a call, or it is said why not."""

import functools
import gc
import statistics
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    UnsupportedProgram,
    frule_mutating,
    grad,
    jvp,
    rrule_mutating,
)
from rules_core import (
    DebugError,
    RuleDefinitionError,
    RuleSkippedWarning,
    debug_mode,
    primitive,
)
from tests.engine.wrong_mutating import isolated_mutating_rules

X = np.array([1.0, 2.0])


@pytest.fixture(autouse=True)
def own_rules():
    with isolated_mutating_rules():
        yield


def total(x, scale=1.0):
    return np.sum(x) * scale


class Account:
    def total(self, x, scale=1.0):
        return np.sum(x) * scale

    def __call__(self, x, scale=1.0):
        return np.sum(x) * scale


def define(f, *, bound=False):
    """Rules of arrays for a sum, with a derivative that nobody else would give."""

    @rrule_mutating.define(f)
    def reverse(f, *args: CoDual[Any, Any]):
        x = args[bound]

        def pull(dy):
            x.fdata[...] += 100.0 * dy
            return (NoRData(),) * (1 + len(args))

        return CoDual(float(np.sum(x.primal)), NoFData()), pull

    @frule_mutating.define(f)
    def forward(f, *args: Dual[Any, Any]):
        x = args[bound]
        return Dual(float(np.sum(x.primal)), 100.0 * float(np.sum(x.tangent)))


def of_arrays():
    """Rules that take arrays alone."""

    @rrule_mutating.define(total)
    def reverse(f, x: CoDual[np.ndarray, Any], scale: Any = None):
        def pull(dy):
            x.fdata[...] += 100.0 * dy
            return (NoRData(),) * (2 if scale is None else 3)

        return CoDual(float(np.sum(x.primal)), NoFData()), pull

    @frule_mutating.define(total)
    def forward(f, x: Dual[np.ndarray, Any], scale: Any = None):
        return Dual(float(np.sum(x.primal)), 100.0 * float(np.sum(x.tangent)))


def slope(program):
    """The sum of the gradient, which both modes must give alike."""
    reverse = float(np.sum(grad(program)(X)))
    assert jvp(program, (X,), (np.ones(2),))[1] == pytest.approx(reverse)
    return reverse


SPELT = {
    "by position": lambda x: total(x),
    "by keyword": lambda x: total(x=x),
    "all by keyword": lambda x: total(scale=1.0, x=x),
    "one by keyword": lambda x: total(x, scale=1.0),
    "partial": lambda x: functools.partial(total, x)(),
    "partial by keyword": lambda x: functools.partial(total, x=x)(),
    "twice": lambda x: 0.5 * (total(x) + total(x=x)),
}


@pytest.mark.parametrize("spelling", SPELT)
def test_every_spelling_of_a_call(spelling):
    of_arrays()
    assert slope(SPELT[spelling]) == 200.0


@pytest.mark.filterwarnings("ignore::rules_core.RuleSkippedWarning")
@pytest.mark.parametrize("first", [True, False])
def test_a_call_that_fits_no_rule_says_nothing_of_others(first):
    of_arrays()

    def program(x):
        y = total(x[0]) if first else 0.0
        y = y + total(x)
        return y if first else y + total(x[0])

    assert slope(program) == 201.0


def test_it_is_said_once_that_rules_do_not_fit():
    of_arrays()
    for run, kind in ((grad(total), "rrule"), (forward, "frule")):
        text = f"{kind}_mutating .*is float, not ndarray(.|\n)*leave the annotation out"
        with pytest.warns(RuleSkippedWarning, match=text):
            run(2.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(3.0)
        with debug_mode(), pytest.raises(DebugError, match="without its mutating"):
            run(2.0)


def forward(x):
    return jvp(total, (x,), (1.0,))


def test_an_argument_that_has_no_position():
    def scaled(x, *, by=1.0):
        return np.sum(x) * by

    define(scaled)
    with pytest.warns(RuleSkippedWarning, match="keyword-only"):
        assert np.array_equal(grad(lambda x: scaled(x, by=2.0))(X), [2.0, 2.0])
    assert slope(lambda x: scaled(x)) == 200.0


def test_the_error_about_c_code_tells_of_rules_that_do_not_fit():
    @rrule_mutating.define(statistics.fmean)
    def rule(f, x: CoDual[np.ndarray, Any]):
        raise AssertionError

    with pytest.raises(UnsupportedProgram) as caught:
        grad(lambda x: statistics.fmean([x, 2.0]))(1.0)
    assert any("is list, not ndarray" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("f", [np.sum, np.max, np.linalg.norm, np.prod])
def test_functions_that_the_engine_knows(f):
    define(f)
    assert slope(lambda x: f(x)) == 200.0


def test_primitives_and_methods():
    double = primitive(total)
    define(double)
    assert slope(lambda x: double(x)) == slope(lambda x: total(x)) == 200.0
    account = Account()
    define(Account.total, bound=True)
    define(Account.__call__, bound=True)
    assert slope(lambda x: account.total(x)) == slope(lambda x: account(x=x)) == 200.0


NEVER_ASKED = {
    "a bound method": (Account().total, "__func__"),
    "an instance": (Account(), "Account.__call__"),
    "a partial": (functools.partial(total), "partial"),
    "a class": (Account, "instance of type"),
    "a cache": (functools.cache(total), "lru_cache"),
    "vectorize": (np.vectorize(total), "vectorize"),
    "the engine's own": (np.copyto, "overlay"),
}


@pytest.mark.parametrize("name", NEVER_ASKED)
def test_what_is_never_asked_is_refused(name):
    f, text = NEVER_ASKED[name]
    with pytest.raises(RuleDefinitionError, match=text):
        rrule_mutating.define(f)(lambda f, x: None)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("wrapped", [False, True])
def test_functions_with_mutating_rules_go_out_of_use(used, wrapped):
    def made():
        def f(x):
            return np.sum(x)

        define(f)
        if used:
            assert slope(lambda x: f(x)) == 200.0
        if wrapped:  # holds a copy of what `f` holds, and no rules

            @functools.wraps(f)
            def g(x):
                return np.sum(x) * 2.0

            assert slope(lambda x: g(x)) == 4.0
        return weakref.ref(f)

    found = made()
    gc.collect()
    assert found() is None
