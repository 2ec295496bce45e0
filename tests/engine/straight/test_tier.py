"""When written code is used, and how `tier` chooses."""

import functools

import numpy as np
import pytest

from rules_autodiff import (
    Const,
    UnsupportedProgram,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    value_and_grad,
    vjp,
)
from rules_autodiff.straight._tier import signatures
from rules_core import NoTangent

X = np.array([0.5, -1.0, 2.0])


def square(x):
    return x * x


def norm(x, p=2):
    return np.sum(x**p)


@pytest.mark.usefixtures("after_one")
def test_the_second_call_writes_code(tapes):
    def program(x):
        return x * x * x

    gradient = grad(program)
    assert [gradient(2.0), gradient(2.0), gradient(3.0)] == [12.0, 12.0, 27.0]
    assert tapes == [program]


@pytest.mark.usefixtures("after_one")
def test_each_kind_of_argument_has_its_own_code(tapes):
    def program(x, y):
        return x * y

    def total(x, y):
        return np.sum(x * y)

    for _ in range(3):
        assert grad(program)(2.0, 3.0) == 3.0
        assert grad(program)(2.0, 3) == 3.0
        assert grad(program, 1)(2.0, 3.0) == 2.0
        np.testing.assert_array_equal(grad(total)(X, 2.0), [2.0, 2.0, 2.0])
        np.testing.assert_array_equal(grad(total)(X[:, None], X), np.full((3, 1), 1.5))
    assert len(tapes) == 5


@pytest.mark.usefixtures("at_once")
def test_shapes_do_not_matter(tapes):
    def program(x):
        return np.sum(x * x)

    for count in range(5):
        np.testing.assert_array_equal(
            grad(program)(np.ones(count)), np.full(count, 2.0)
        )
    assert tapes == []


@pytest.mark.parametrize("f", [square, lambda x: x * x], ids=["function", "lambda"])
def test_tiers_agree(f):
    for tier in ("auto", "tape", "straight"):
        assert value_and_grad(f, tier=tier)(3.0) == (9.0, 6.0)
        assert grad(f, tier=tier)(3.0) == 6.0
        y, pullback = vjp(f, 3.0, tier=tier)
        assert (y, pullback(1.0), pullback(2.0)) == (9.0, (6.0,), (12.0,))


def test_the_tape_when_it_is_asked_for(tapes):
    for count in range(1, 5):
        assert grad(square, tier="tape")(3.0) == 6.0
        assert len(tapes) == count


def test_an_unknown_tier():
    text = "tier must be 'auto', 'tape', 'straight' or 'compiled', but got 'fast'"
    for make in (grad, value_and_grad):
        with pytest.raises(ValueError, match=f"^{make.__name__}: {text}"):
            make(square, tier="fast")
    with pytest.raises(ValueError, match=f"^jacrev: {text}"):
        jacrev(square, tier="fast")
    with pytest.raises(ValueError, match=f"^vjp: {text}"):
        vjp(square, 1.0, tier="fast")


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g(X, 3),
        lambda g: g(X, p=3),
    ],
    ids=["positions", "keyword"],
)
def test_arguments_by_name(call):
    np.testing.assert_allclose(call(grad(norm, tier="straight")), 3 * X**2)


def test_defaults():
    np.testing.assert_allclose(grad(norm, tier="straight")(X), 2 * X)
    y, pullback = vjp(norm, X, tier="straight")
    assert y == 5.25
    np.testing.assert_allclose(pullback(2.0)[0], 4 * X)


def test_negative_positions_count_what_is_given():
    def program(x, y=2.0):
        return x * y * y

    gradient = grad(program, -1, tier="straight")
    assert gradient(3.0) == 4.0
    assert gradient(3.0, 2.0) == 12.0
    assert gradient(3.0, y=2.0) == 4.0


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((X, 2, 3), {}), ((X,), {"q": 1}), ((X, 2), {"p": 2})],
)
def test_wrong_arguments_are_pythons_error(args, kwargs):
    def program(x, p=2):
        return np.sum(x**p)

    with pytest.raises(TypeError) as own:
        program(*args, **kwargs)
    if args:
        with pytest.raises(TypeError) as caught:
            grad(program)(*args, **kwargs)
        assert str(caught.value).endswith(str(own.value).partition("() ")[2])


class Scale:
    factor = 3.0

    def of(self, x):
        return x * self.factor

    def __call__(self, x):
        return x * self.factor


LEFT = {
    "method": (Scale().of, "it is no function written in Python"),
    "object": (Scale(), "it is no function written in Python"),
    "partial": (functools.partial(square), "it is no function written in Python"),
    "stars": (lambda x, **k: x * len(k), "it has arguments that are no positions"),
    "keyword only": (lambda x, *, k=2: x * k, "it has arguments that are no positions"),
}


@pytest.mark.parametrize(("f", "reason"), LEFT.values(), ids=LEFT)
def test_what_is_left_to_the_tape(f, reason):
    for _ in range(3):
        assert grad(f)(2.0) == pytest.approx((f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6)
    with pytest.raises(UnsupportedProgram, match=reason):
        grad(f, tier="straight")(2.0)


ARGUMENTS = {
    "float32": (
        np.ones(2, np.float32),
        "its argument x is of a kind that the",
    ),
    "no axes": (np.ones(()), "its argument x is of a kind that the"),
    "complex": (1.0 + 2.0j, "it has an argument of class complex"),
    "constant": (Const(2.0), "it is differentiated by a constant"),
}


@pytest.mark.parametrize(("x", "reason"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_that_are_left_to_the_tape(x, reason):
    def program(x, y):
        return y

    for _ in range(3):
        grad(program, (0, 1))(x, 2.0)
    with pytest.raises(UnsupportedProgram, match=reason):
        grad(program, (0, 1), tier="straight")(x, 2.0)


def test_constants(tapes):
    def program(x, n, c):
        return x * c if n > 2 else x

    for tier in ("straight", "auto"):
        assert grad(program, tier=tier)(2.0, 3, Const(5.0)) == 5.0
        assert grad(program, 2, tier=tier)(Const(2.0), 3, 5.0) == 2.0
        y, pullback = vjp(program, 2.0, 3, Const(5.0), tier=tier)
        assert (y, pullback(1.0)) == (10.0, (5.0, NoTangent(), NoTangent()))
    assert tapes == []
    with pytest.raises(UnsupportedProgram, match="no argument can be differentiated"):
        vjp(program, Const(2.0), 3, Const(5.0), tier="straight")


def test_derivatives_of_derivatives_are_the_tapes():
    def program(x):
        return x * x * x

    for _ in range(3):
        assert grad(grad(program))(2.0) == 12.0
        assert jvp(grad(program), (2.0,), (1.0,)) == (12.0, 12.0)
    with pytest.raises(
        UnsupportedProgram, match="a derivative of a derivative is taken"
    ):
        grad(grad(program, tier="straight"))(2.0)


def test_jacobians_by_written_code(tapes):
    def program(x):
        return x * x

    for tier in ("straight", "auto", "auto"):
        np.testing.assert_array_equal(jacrev(program, tier=tier)(X), np.diag(2 * X))
    assert tapes == []
    np.testing.assert_array_equal(
        hessian(lambda x: np.sum(program(x) * x))(X), np.diag(6 * X)
    )
    assert jacrev(lambda x: (x, x * x), tier="straight")(2.0) == (1.0, 4.0)
    with pytest.raises(UnsupportedProgram, match="or a tuple of those"):
        jacrev(lambda x: (x, (x,)), tier="straight")(2.0)
    assert jacrev(lambda x: (x, (x,)))(2.0) == (1.0, (1.0,))


def test_aux_is_the_tapes():
    for _ in range(3):
        assert grad(lambda x: (x * x, x), has_aux=True)(3.0) == (6.0, 3.0)
    with pytest.raises(UnsupportedProgram, match="has_aux is given"):
        jacfwd(lambda x: (x * x, x), has_aux=True, tier="straight")(3.0)


def test_the_error_names_function_file_line_and_reason():
    seen = []

    def program(x):
        seen.append(1)
        return x * 2.0

    with pytest.raises(UnsupportedProgram) as caught:
        grad(program, tier="straight")(2.0)
    text = str(caught.value)
    line = program.__code__.co_firstlineno
    start = f"{__name__}.{program.__qualname__} ({__file__}, line {line}) must be a pro"
    assert text.startswith(start)
    assert text.endswith("Use tier='auto', which records a tape then.")
    assert grad(program)(2.0) == 2.0


def test_too_many_kinds_of_arguments():
    def program(x, sizes):
        return x * x

    for count in range(signatures.SIGNATURES + 5):
        assert grad(program)(3.0, (1,) * count) == 6.0
    forms = signatures.FORMS.get(program.__code__)
    assert len(forms) == signatures.SIGNATURES
    with pytest.raises(UnsupportedProgram, match="arguments of too many kinds"):
        grad(program, tier="straight")(3.0, (1,) * 1000)
