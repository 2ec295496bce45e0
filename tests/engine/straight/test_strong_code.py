"""Code that asks for strong zeros, where derivatives were not finite without."""

import numpy as np
import pytest

from rules_autodiff import grad, jacrev, value_and_grad, vjp
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._tier.signatures import FORMS
from rules_autodiff.straight._unit.unit import write
from rules_autodiff.straight._write.strong_zeros import strictly
from tests.engine.straight.random_programs import arguments, program
from tests.engine.straight.test_generated_straight import ACTIVE, learned

POINTS = np.array([[0.1, 0.4, 1.0], [1.2, 0.3, 0.0], [0.5, 0.5, 2.0], [0.0, 1.0, 1.0]])
X = np.array([0.0, 1.0, 4.0, 0.0])


def distances(points):
    d = points[:, None, :] - points[None, :, :]
    r = np.sqrt(np.sum(d * d, axis=-1))
    return np.sum(np.triu(r, 1)) + np.sum(np.where(r > 0.1, r * r, 0.0))


def roots(x):
    y = np.sqrt(x)
    return np.sum(np.where(x > 0.5, y, 0.0)) + y[1] * y[2]


def in_place(x):
    y = np.sqrt(x)
    y[0] = x[1]
    y[-1:] = x[2]
    return y @ y


def looped(x):
    total = 0.0
    for v in x:
        r = np.sqrt(v)
        total = total + r if v > 0.5 else total + 0.0 * v
    return total


def by_columns(x):
    y = np.sqrt(np.outer(x, x))
    return np.sum(np.tril(y, -1)[1:3, 1:3], axis=0)[0] - y[1, 2] / y[2, 2]


PROGRAMS = {
    distances: POINTS, roots: X, in_place: X, looped: X, by_columns: X,
}  # fmt: skip


def form_of(f):
    (form,) = [form for form in FORMS.get(f.__code__).values() if form.calls > 1]
    return form


@pytest.mark.parametrize("f", PROGRAMS)
def test_code_with_strong_zeros_is_written_and_stays(f):
    x = PROGRAMS[f]
    FORMS.entries.pop(id(f.__code__), None)
    expected = grad(f, tier="tape")(x)
    assert np.isfinite(expected).all()
    for _ in range(20):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-14)
    form = form_of(f)
    assert form.strict
    assert form.units
    assert not form.failures
    np.testing.assert_allclose(
        grad(f)(x + 1.0), grad(f, tier="tape")(x + 1.0), rtol=1e-13
    )


def test_other_ways_to_the_derivative():
    for _ in range(4):
        value, dx = value_and_grad(roots)(X)
    y, pullback = vjp(roots, X)
    assert y == value
    assert np.array_equal(pullback(2.0)[0], 2.0 * dx)
    for _ in range(4):
        rows = jacrev(lambda x: np.where(x > 0.5, np.sqrt(x), 0.0))(X)
    assert np.array_equal(rows, np.diag([0.0, 0.5, 0.25, 0.0]))


def test_an_infinite_derivative_stays_infinite():
    def slope(x):
        return np.sum(np.sqrt(x))

    for _ in range(20):
        with np.errstate(all="ignore"):
            assert grad(slope)(X).tolist() == [np.inf, 0.5, 0.25, np.inf]


def test_what_is_no_number_stays_none():
    def undefined(x):
        return np.sum(np.sqrt(x * x))  # ∞ times the slope of x², which is zero

    with np.errstate(all="ignore"):
        for _ in range(20):
            assert np.isnan(grad(undefined)(X)).tolist() == [True, False, False, True]
        tapes = grad(undefined, tier="tape")(X)
    assert np.isnan(tapes).tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("{dz}", "{dz}"),
        ("-{dz}", "-{dz}"),
        ("{dz} @ {1}.T", "noted({dz} @ {1}.T)"),
        ("np_where({0}, {dz}, 0.0).T[1:]", "np_where({0}, {dz}, 0.0).T[1:]"),
        ("fit(np_triu({dz}, 1), {s0})", "fitted(np_triu({dz}, 1), {s0})"),
        ("fit({dz} * {1}, {s0})", "fitted(strong_product({dz}, lambda: {1}), {s0})"),
        ("{dz} * {1}", "strong_product({dz}, lambda: {1})"),
        ("{1} * {dz}", "strong_product({dz}, lambda: {1})"),
        ("{dz} / {1}", "strong_product({dz}, lambda: 1.0 / {1})"),
        ("-{dz} * {z} / {1}", "strong_product({dz}, lambda: -1.0 * {z} / {1})"),
        ("-({dz} * {0})", "strong_product({dz}, lambda: -{0})"),
        ("summed({dz} * {1})", "noted(summed(strong_product({dz}, lambda: {1})))"),
        ("{dz} * {1} + {dz}", "noted({dz} * {1} + {dz})"),
    ],
)
def test_products_of_cotangents_are_strong(text, strict):
    assert strictly(text) == strict


def check_program(seed):
    """Compare strict code of a generated program with usual code; what became of it."""
    plain, args = program(seed)[0], arguments(seed)
    active = ACTIVE[seed % len(ACTIVE)]
    with np.errstate(all="ignore"):
        value = plain(*args)
        if not np.all(np.abs(value) < 1e6):
            return "large"
        dy = np.ones(np.shape(value)) if np.ndim(value) else 1.0
        try:
            usual = learned(plain, args, active)
            kinds = tuple(map(kind_of, args))
            strict = write(plain, kinds, active, patient=False, strict=True)
        except Refused:
            return "refused"
        found = []
        for code in (usual, strict):
            try:
                y, kept = code.forward(*args, code.guard(plain))
                found.append((y, code.reverse(kept, dy)))
            except Exception as error:
                found.append(type(error))
    if isinstance(found[0], type):
        return "raised"
    (y, one), (z, other) = found
    assert np.array_equal(y, z)
    for d, e in zip(one, other, strict=True):
        text = f"program {seed}\n{program(seed)[2]}"
        np.testing.assert_allclose(d, e, rtol=1e-9, atol=1e-9, err_msg=text)
    return "checked"


def test_strict_code_of_generated_programs_agrees_with_usual_code():
    assert [check_program(seed) for seed in range(10)].count("checked") > 5


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_strict_code_of_more_programs(part):
    seeds = range(100 + 100 * part, 200 + 100 * part)
    assert [check_program(seed) for seed in seeds].count("checked") > 60


def flat(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x), 0.0)) + np.sum(np.cos(np.sqrt(x)))


def cancelled(x):
    r = np.sqrt(x)
    return np.sum(np.exp(r) + np.exp(-r))


def cancelled_entries(x):
    r = np.sqrt(x)
    return np.exp(r[0]) + np.exp(-r[0]) + r[1]


def difference(x):
    r = np.sqrt(x)
    return np.sum(np.sin(r) - r)


def product(x):
    r = np.sqrt(x)
    return np.sum(r * r) + np.sum(np.triu(np.outer(r, r), 1))


def matrix(x):
    r = np.sqrt(x)
    return np.sum((np.eye(4) @ r) ** 2)


def repeated(x):
    r = np.sqrt(x)[np.array([0, 0, 1, 2])]
    return np.sum(np.sin(r) * np.array([1.0, -1.0, 2.0, 1.0]) * np.cos(r))


def slope(r):
    return r * r


def called(x):
    return np.sum(slope(np.sqrt(x)))


def loop_of_numbers(x):
    total = 0.0
    for v in x:
        total = total + np.cos(np.sqrt(v))
    return total


MOVING = [
    flat, cancelled, cancelled_entries, difference, product, matrix, repeated, called,
    loop_of_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", MOVING)
def test_zeros_that_move_are_left_to_the_tape(f):
    with np.errstate(all="ignore"):
        expected = grad(f, tier="tape")(X)
        for _ in range(7):
            np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-12)
    assert not np.isfinite(expected[0])
    assert np.isfinite(expected[1:3]).all()
