"""`debug_mode`: each broken promise is named with rule, place, argument and path."""

import os
import subprocess
import sys

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    DebugError,
    InplaceableThunk,
    NoTangent,
    ZeroTangent,
    debug_mode,
    frule,
    rrule,
    thunk,
)
from rules_core.testing import isolated_rules


def scale(x, n=2):
    return n * x


def define(pullback, primal=lambda x, n: n * x):
    @rrule.define(scale)
    def scale_rrule(x, n):
        return primal(x, n), lambda dy: pullback(x, n, dy)


def run(x, dy):
    with debug_mode():
        return rrule(scale, x)[1](dy)


def complaint(x, dy, error=DebugError):
    with pytest.raises(error) as caught:
        run(x, dy)
    head, _, text = str(caught.value).partition(": ")
    assert head.startswith(
        "rrule define.<locals>.scale_rrule for scale at test_debug.py:"
    )
    return text


ONES = np.ones(3)


def good(x, n, dy):
    return NoTangent(), n * dy, NoTangent()


def test_a_right_rule_passes():
    define(good)
    np.testing.assert_array_equal(run(ONES, ONES)[1], 2 * ONES)
    assert run(1.0, 1.0) == (NoTangent(), 2.0, NoTangent())


def test_right_forms_pass():
    lazy = InplaceableThunk(lambda x: np.add(x, 2.0, out=x), thunk(lambda: 2 * ONES))
    for dx in (ZeroTangent(), None, thunk(lambda: 2 * ONES), lazy):
        with isolated_rules():
            define(lambda x, n, dy, dx=dx: (NoTangent(), dx, NoTangent()))
            run(ONES, ONES)


CASES = {
    "shape": (
        lambda x, n, dy: (NoTangent(), np.ones(2), NoTangent()),
        "the cotangent of argument 1 must have shape (3,), but has (2,)",
    ),
    "dtype": (
        lambda x, n, dy: (NoTangent(), dy.astype(np.float32), NoTangent()),
        "the cotangent of argument 1 must have dtype float64, but has float32",
    ),
    "value for an int": (
        lambda x, n, dy: (NoTangent(), dy, 1.0),
        "the cotangent of argument 2 must be NoTangent(), but is float 1.0",
    ),
    "NoTangent for a float": (
        lambda x, n, dy: (NoTangent(), NoTangent(), NoTangent()),
        "the cotangent of argument 1 is NoTangent(), but ndarray has tangents; return "
        "ZeroTangent() for zero",
    ),
    "complex for a real": (
        lambda x, n, dy: (NoTangent(), dy * 1j, NoTangent()),
        "the cotangent of argument 1 must be real, like its primal, but is complex",
    ),
    "number for an array": (
        lambda x, n, dy: (NoTangent(), 1.0, NoTangent()),
        "the cotangent of argument 1 must have shape (3,), but is a number",
    ),
    "no array": (
        lambda x, n, dy: (NoTangent(), "a", NoTangent()),
        "the cotangent of argument 1 must be like an array of shape (3,) and dtype "
        "float64, but is str",
    ),
    "first NaN": (
        lambda x, n, dy: (NoTangent(), dy * np.nan, NoTangent()),
        "the cotangent of argument 1 has a NaN, and no input has one",
    ),
    "writes its cotangent": (
        lambda x, n, dy: (NoTangent(), np.multiply(dy, n, out=dy), NoTangent()),
        "the cotangent was written to. The arguments of a rule belong to its caller: "
        "copy before changing.",
    ),
    "writes its input": (
        lambda x, n, dy: (NoTangent(), np.multiply(dy, n, out=x), NoTangent()),
        "argument 1 was written to. The arguments of a rule belong to its caller: "
        "copy before changing.",
    ),
    "in-place promise": (
        lambda x, n, dy: (
            NoTangent(),
            InplaceableThunk(lambda b: np.add(b, 1.0, out=b), thunk(lambda: n * dy)),
            NoTangent(),
        ),
        "the cotangent of argument 1: InplaceableThunk.add adds something other than "
        "its value",
    ),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", list(CASES))
def test_broken_pullbacks(name):
    pullback, expected = CASES[name]
    define(pullback)
    assert complaint(np.ones(3), np.full(3, 0.25)) == expected


def test_what_nobody_needs_may_be_anything():
    @rrule.define(scale)
    def scale_rrule(x, n, *, needs):
        return n * x, lambda dy: (NoTangent(), NoTangent(), NoTangent())

    with debug_mode():
        _, pullback = rrule.resolve(scale, (ONES,)).run(needs=(False, True))
        pullback(ONES)
        _, pullback = rrule.resolve(scale, (ONES,)).run(needs=(True, True))
        with pytest.raises(DebugError, match=r"argument 1 is NoTangent\(\), but"):
            pullback(ONES)


def test_arity():
    define(lambda x, n, dy: (dy,))
    assert complaint(ONES, ONES, rc.CotangentCountError) == (
        "the pullback must return a tuple of 3 cotangents (one for the function "
        "itself, then one per positional argument), but got 1 of them. Return "
        "NoTangent() for what has no tangent."
    )


def test_a_nan_in_the_primal():
    define(good, primal=lambda x, n: x * np.nan)
    assert complaint(ONES, ONES) == "the primal output has a NaN, and no input has one"


def test_a_nan_that_comes_in_is_not_the_rules_fault():
    define(good)
    run(np.array([np.nan]), np.ones(1))


def test_a_lazy_cotangent_must_be_asked_for():
    define(good)
    assert complaint(ONES, ZeroTangent()).startswith(
        "the cotangent of the output must be concrete, but is ZeroTangent(): "
    )


def test_a_cotangent_is_no_thunk_and_not_none():
    define(good)
    for dy, kind in ((thunk(lambda: ONES), "Thunk"), (None, "NoneType")):
        assert complaint(ONES, dy) == (
            f"the cotangent of the output must be concrete, but is {kind}"
        )


def test_an_entry_that_is_missing():
    define(
        lambda x, n, dy: (NoTangent(), {"w": 1.0}, NoTangent()),
        primal=lambda x, n: 1.0,
    )
    assert complaint({"w": 1.0, "b": 1.0}, 1.0) == (
        "the cotangent of argument 1['b'] is missing in dict"
    )


def test_rules_that_take_symbolic_zeros_may_be_given_them():
    @rrule.define(scale, symbolic_zeros=True)
    def scale_rrule(x, n):
        return n * x, lambda dy: (NoTangent(), n * dy, NoTangent())

    @frule.define(scale, symbolic_zeros=True)
    def scale_frule(tangents, x, n):
        return n * x, n * tangents[1]

    assert run(ONES, ZeroTangent())[1] is ZeroTangent()
    with debug_mode():
        zeros = (NoTangent(), ZeroTangent(), NoTangent())
        assert frule(zeros, scale, ONES)[1] is ZeroTangent()


@pytest.mark.parametrize("kind", [frule, rrule])
def test_a_rule_without_its_pair_is_the_calls_affair(kind):
    kind.define(scale)(lambda first, *rest: 3.0)
    given = ((NoTangent(), ONES),) if kind is frule else ()
    with debug_mode(), pytest.raises(rc.RuleResultError, match="but got one value"):
        kind(*given, scale, ONES)


def test_a_primal_of_two_libraries_is_not_looked_into():
    class Odd:
        """An array without `isnan`."""

        shape, ndim, dtype = (), 0, "float64"

        def __array_namespace__(self, api_version=None):
            raise TypeError

    odd = Odd()
    define(lambda x, n, dy: (NoTangent(), ZeroTangent(), NoTangent()), lambda x, n: odd)
    with debug_mode():
        assert rrule(scale, 1.0)[0] is odd


@pytest.mark.parametrize("host", ["jax.numpy", "torch"])
def test_arrays_of_hosts_are_watched(host):
    xp = pytest.importorskip(host)
    define(good)
    assert run(xp.ones(2), xp.ones(2))[1].tolist() == [2.0, 2.0]


def test_a_tensor_counts_its_writes():
    torch = pytest.importorskip("torch")
    define(lambda x, n, dy: (NoTangent(), dy.mul_(n), NoTangent()))
    assert complaint(torch.ones(2), torch.ones(2)).startswith(
        "the cotangent was written to."
    )


def test_paths_inside_an_argument():
    define(
        lambda x, n, dy: (NoTangent(), {"w": [np.ones(2)], "b": 1.0}, NoTangent()),
        primal=lambda x, n: 1.0,
    )
    assert complaint({"w": [ONES], "b": 1.0}, 1.0) == (
        "the cotangent of argument 1['w'][0] must have shape (3,), but has (2,)"
    )


def test_frules_are_watched():
    @frule.define(scale)
    def scale_frule(tangents, x, n):
        return n * x, np.ones(2)

    with (
        debug_mode(),
        pytest.raises(
            DebugError,
            match=r"the tangent of the output must have shape \(3,\), but has \(2,\)",
        ),
    ):
        frule((NoTangent(), ONES), scale, ONES)


def test_frules_are_given_the_tangents_of_their_arguments():
    @frule.define(scale)
    def scale_frule(tangents, x, n):
        return n * x, n * x

    with (
        debug_mode(),
        pytest.raises(
            DebugError,
            match=r"the tangent of argument 1 must have shape \(3,\), but has \(2,\)",
        ),
    ):
        frule((NoTangent(), np.ones(2)), scale, ONES)


@pytest.mark.parametrize(
    ("write", "path"),
    [
        (lambda x: x["w"].append(1.0), "['w'][1]"),
        (lambda x: x["w"].clear(), "['w'][0]"),
        (lambda x: x.update(w=[2.0]), "['w'][0]"),
        (lambda x: x.update(w=[ONES]), "['w'][0]"),
        (lambda x: x.pop("b"), "['b']"),
    ],
    ids=["append", "clear", "number", "array", "pop"],
)
def test_written_containers(write, path):
    @rrule.define(scale)
    def scale_rrule(x, n):
        write(x)
        return 1.0, None

    with debug_mode(), pytest.raises(DebugError) as caught:
        rrule(scale, {"w": [1.0], "b": 2.0})
    assert f": argument 1{path} was written to." in str(caught.value)


def test_rules_for_systems_that_follow_writes_may_write():
    class Writing(rc.RuleConfig, rc.HasReverseMode, rc.SupportsMutation):
        pass

    @rrule.define(scale, config=rc.RuleConfig[rc.SupportsMutation])
    def scale_rrule(config, x, n):
        x *= n
        return None, None

    with debug_mode():
        assert rrule(Writing(), scale, np.ones(2))[0] is None


def test_a_rule_stays_one_object():
    """Hosts ask whether the rule for their tracers is the one for the user's arrays."""

    @rrule.define(scale)
    def scale_rrule(x, n):
        return n * x, None

    with debug_mode():
        first, second = (rrule.resolve(scale, (x,)).rule for x in (1.0, ONES))
        assert first is second
    assert rrule.resolve(scale, (1.0,)).rule is not first


def test_it_ends_and_nests():
    define(CASES["shape"][0])
    with debug_mode():
        with debug_mode():
            pass
        with pytest.raises(DebugError):
            rrule(scale, ONES)[1](ONES)
    assert rrule(scale, ONES)[1](ONES)[1].shape == (2,)


def test_the_environment_switches_it_on():
    program = (
        "import rules_core as rc\n"
        "def f(x): return x\n"
        "rc.rrule.define(f)(lambda x: (x, lambda dy: dy))\n"
        "try: rc.rrule(f, 1.0)[1](1.0)\n"
        "except rc.CotangentCountError: print('caught')"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "RULES_CORE_DEBUG": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout == "caught\n"
