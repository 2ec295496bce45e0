"""What many calls leave behind, and calls from several threads."""

import gc
import linecache
import threading
import weakref

import numpy as np
import pytest

from rules_autodiff import grad, vjp
from rules_autodiff.straight._tier import signatures
from tests.growth import growth

X = np.array([0.5, -1.0, 2.0])


def fresh_closure():
    factor = np.ones(100)

    def inner(x):
        return x * 2.0

    def program(x):
        return np.sum(inner(x) * factor[0])

    grad(program)(X)


def refused():
    seen = []

    def program(x):
        seen.append(1)
        return x * 2.0

    grad(program)(2.0)


def fresh_code(number=iter(range(10**9))):  # noqa: B008  shared on purpose
    """A function of its own text, which calls itself."""
    name = f"<fresh {next(number)}>"
    text = "def program(x, n=2):\n    return program(x * 2.0, n - 1) if n else x\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {}
    exec(compile(text, name, "exec"), space)
    for _ in range(3):
        assert grad(space["program"])(1.0) == 4.0
    del linecache.cache[name]
    return weakref.ref(space["program"])


def pullbacks():
    _, pullback = vjp(lambda x: np.sum(x * x), X)
    pullback(1.0)


@pytest.mark.parametrize("work", [fresh_closure, refused, pullbacks])
def test_memory_does_not_grow(work):
    assert growth(work, 300) < 2000


def test_functions_of_their_own_text_are_let_go():
    assert growth(fresh_code, 20) < 20_000
    made = fresh_code()
    gc.collect()
    assert made() is None


@pytest.mark.nightly
@pytest.mark.parametrize("work", [fresh_closure, refused, pullbacks])
def test_a_hundred_thousand_gradients(work):
    assert growth(work, 20_000) < 5000


def test_captured_arrays_are_not_kept():
    """The code of a closure serves the next one, but holds nothing of the first."""

    def loss_of(data):
        def predict(x):
            return x * data

        return lambda x: np.sum(predict(x))

    data = np.ones(1000)
    gone = weakref.ref(data)
    for _ in range(3):
        np.testing.assert_array_equal(grad(loss_of(data))(X[:1]), [1000.0])
    del data
    gc.collect()
    assert gone() is None


def test_only_so_many_functions_are_remembered(monkeypatch):
    monkeypatch.setattr(signatures, "FUNCTIONS", 5)
    made = [eval(f"lambda x: x * {count}.0") for count in range(20)]
    for f in made:
        with pytest.raises(Exception, match="must have source code"):
            grad(f)(1.0)
    assert len(signatures.FORMS) <= 5


def test_recursion():
    def power(x, n):
        if n == 0:
            return 1.0 + 0.0 * x
        half = power(x, n // 2)
        return half * half * x if n % 2 else half * half

    for _ in range(3):
        assert grad(power)(1.5, 7) == pytest.approx(7 * 1.5**6)


def test_threads():
    """Written at once by all, and used by all."""
    made = [made_program(count) for count in range(10)]
    wrong = []
    start = threading.Barrier(4)

    def work():
        start.wait()
        for _ in range(20):
            for count, f in enumerate(made):
                found = grad(f)(X)
                if not np.array_equal(found, 2 * X * count):
                    wrong.append((count, found))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def made_program(count):
    name = f"<made {count}>"
    text = f"def program(x):\n    return np.sum(x * x) * {count}.0\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["program"]
