"""Threads, exceptions, deep recursion, memory, long tapes."""

import gc
import linecache
import queue
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jvp, value_and_grad, vjp
from rules_autodiff._lift.lift import CACHE
from rules_autodiff._python.lifted_code import NESTED
from tests.growth import growth

X = np.array([0.5, -1.0, 2.0])


def norm(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


def test_threads():
    shared = [X.copy(), X * 2]

    def f(p, c):
        p[0][0] *= 1.0
        return norm(p[1]) * c

    wrong = []

    def work(number):
        for _ in range(30):
            own = [shared[0].copy(), shared[1]]
            found = grad(f)(own, float(number))
            if not np.allclose(found[1], 2 * shared[1] * number):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reentrancy():
    """A differentiated program that differentiates, plainly and nested."""

    def f(x):
        inner = grad(norm)(X)
        return grad(lambda y: x * y * y)(3.0) * inner[0]

    assert grad(f)(2.0) == 6.0


def test_exceptions_restore_the_state():
    log = []

    def f(x, items):
        x[1:] *= 2.0
        items.append(x[0])
        log.append(1)
        if len(items) > 1:
            raise ValueError("stop")
        return norm(x)

    x, items = X.copy(), [1.0]
    for derivative in (grad(f), value_and_grad(f, (0, 1))):
        with pytest.raises(ValueError, match="stop"):
            derivative(x, items)
        np.testing.assert_array_equal(x, X)
    with pytest.raises(ValueError, match="stop"):
        vjp(f, x, items)
    np.testing.assert_array_equal(x, X)
    assert items == [1.0]


def test_exception_in_a_pullback_restores_the_state():
    import rules_core as rc

    def fragile(x):
        return x @ x

    @rc.rrule.define(fragile)
    def fragile_rrule(x):
        def pullback(dy):
            raise RuntimeError("in the pullback")  # noqa: TRY003  a user's

        return x @ x, pullback

    def f(x):
        x *= 2.0
        y = fragile(x)
        x *= 3.0
        return y

    x = X.copy()
    with pytest.raises(RuntimeError, match="in the pullback"):
        grad(f)(x)
    np.testing.assert_array_equal(x, X)


def test_deep_recursion():
    def count(n, x):
        return x if n == 0 else count(n - 1, x) + x

    assert grad(count, 1)(100, 1.0) == 101.0
    with pytest.raises(RecursionError, match="setrecursionlimit"):
        grad(count, 1)(100_000, 1.0)


def test_a_rule_that_calls_its_function_for_ever():
    """Its author took the tuple of tangents for the argument."""

    def cube(x):
        return x**3

    @rc.frule.define(cube)
    def cube_frule(x, dx):
        return cube(x), 3 * x**2 * dx

    with pytest.raises(RecursionError, match="such as the tuple of tangents"):
        grad(cube)(2.0)


def test_long_tape():
    def f(x):
        y = x
        for _ in range(200_000):
            y = y * 0.999_99 + x
        return y

    expected = sum(0.999_99**k for k in range(200_000)) + 0.999_99**200_000
    assert grad(f)(1.0) == pytest.approx(expected)


def test_forward_mode_forgets():
    """Numbers that nobody holds are dropped on the way."""

    def f(x):
        y = x
        for _ in range(20_000):
            y = y * 0.999 + x
        return y

    assert jvp(f, (1.0,), (1.0,))[1] == pytest.approx(1000.0)


def test_forward_mode_frees_arrays():
    alive = weakref.WeakSet()

    class Probe:
        pass

    def f(x):
        y = x
        for _ in range(50):
            y = y * 0.5 + x
            alive.add(Probe())
        return y

    before = count_arrays()
    jvp(f, (np.ones(1000),), (np.ones(1000),))
    assert count_arrays() - before < 10


def count_arrays():
    gc.collect()
    return sum(1 for o in gc.get_objects() if type(o) is np.ndarray)


def test_memory_does_not_grow():
    def f(x):
        x[0] *= 2.0
        items = [x[1], x[2]]
        items.append(x[0])
        return norm(x) * sum(items)

    x = X.copy()
    derivative = grad(f)
    assert growth(lambda: derivative(x), 200) < 5_000


@pytest.mark.nightly
def test_a_hundred_thousand_gradients():
    derivative = grad(lambda x: x * x + 1)
    assert growth(lambda: derivative(1.0), 20_000) < 1_000


@pytest.mark.nightly
def test_a_million_operations():
    def f(x):
        y = x
        for _ in range(1_000_000):
            y = y * 0.999_999 + 0.1
        return y

    assert grad(f)(1.0) == pytest.approx(0.999_999**1_000_000)


def test_a_run_leaves_nothing_behind():
    def f(x):
        y = x * 2
        seen.put(weakref.ref(y))
        return y @ y

    seen = queue.SimpleQueue()  # not taken back, as no change of a container is
    for _ in range(3):  # in the second one code is asked for, and refused
        grad(f)(X)
        assert seen.get()() is None


def test_closures_that_outlive_the_run():
    kept = []

    def f(x):
        def g(v):
            return v * x

        kept.append(g)
        return g(x)

    _, pullback = vjp(f, 3.0)
    g = kept[0]
    assert g(2.0) == 6.0
    assert grad(g)(2.0) == 3.0
    assert pullback(1.0) == (6.0,)
    assert grad(lambda v: g(v) * v)(2.0) == 12.0


def test_memoised_in_the_program_itself():
    """A value kept from an earlier run must not be taken for a constant."""
    cache = {}

    def square(x):
        if x not in cache:
            cache[x] = x * x
        return cache[x]

    for _ in range(3):
        assert grad(lambda x: square(x) + square(x))(3.0) == 12.0
    assert cache == {}


def test_functions_that_go_out_of_use_are_collected():
    def make(number):
        name = f"<made {number}>"
        text = f"def f(x):\n    g = lambda v: v * x\n    return g(x) + {number}\n"
        linecache.cache[name] = (0, None, text.splitlines(keepends=True), name)
        namespace = {}
        exec(compile(text, name, "exec"), namespace)
        assert grad(namespace["f"])(3.0) == 6.0
        del linecache.cache[name]

    for number in range(40):
        make(number)
    gc.collect()
    before = len(NESTED), len(CACHE)
    for number in range(40, 80):
        make(number)
    gc.collect()
    assert (len(NESTED), len(CACHE)) == before


def test_references_to_an_array_may_hold_it():
    """CPython 3.11 and 3.12 crash here where references have no callback.

    The last reference to an array is often the cotangent in a shadow that goes.
    """
    program = """
import numpy as np
from rules_autodiff._shadows.memory import CALLBACK
from rules_autodiff._shadows.slots import Shadow, Window
for place in range(6):
    a = np.ones(3)
    held = [Shadow(a, CALLBACK) for _ in range(6)]
    windows = [Window(held[0].pinned(), a) for _ in range(6)]
    gone = held.pop(place)
    gone.data = a
    del a, gone, windows
    assert not any(shadow() is not None for shadow in held)
"""
    command = [sys.executable, "-X", "faulthandler", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
