"""Views of temporaries, which are gone when the reverse pass asks where they lay."""

import numpy as np
import pytest

from rules_autodiff import vjp
from rules_autodiff.testing import check_program

X = np.array([[0.3, -1.2, 2.0], [0.7, 1.1, -0.4]])
CUBE = np.arange(12.0).reshape(2, 3, 2) - 4.5

# Whole views of an owner of another order, each of a temporary that nothing holds.
VIEWS = {
    "transposed": lambda x: (x.T * 2.0).T,
    "swapped": lambda x: np.swapaxes(np.sin(x.T), 0, 1),
    "flattened": lambda x: (x.T * 2.0).ravel("K").reshape(2, 3),
    "with an axis": lambda x: np.asfortranarray(x * 2.0)[None],
    "without axes": lambda x: np.squeeze(np.asfortranarray(x * 2.0)[None]),
    "reshaped": lambda x: np.asfortranarray(x * 2.0).reshape(3, 2, order="F").T,
    "moved": lambda x: np.moveaxis(np.exp(x.T), 0, -1),
    "turned": lambda x: np.rot90(np.rot90(np.asfortranarray(x * 2.0))),
    "part of a part": lambda x: np.asfortranarray(x * 2.0)[:, :].T.T,
}


def normalised(x):
    """Log-likelihoods with every row normalised by way of the transpose."""
    logp = (x.T - np.log(np.sum(np.exp(x), axis=1))).T
    return logp[np.arange(2), [2, 0]]


def changed(u):
    u = u * 1.0 if u.base is None else u
    u[..., 0] = u[..., 1] * 3.0
    return u[..., :2]


USES = {
    "an entry": lambda u: u[..., 1][0],
    "a row": lambda u: u[..., 0, :] * u[..., 1, :],
    "a mask": lambda u: u[u > 0.5],
    "a fancy index": lambda u: u[..., [2, 0, 2] if u.shape[-1] == 3 else [1, 0]],
    "flat": lambda u: u.flat[4] * u.flat[1],
    "item": lambda u: u.item(4) * u.item(*([0] * u.ndim)),
    "ravel": lambda u: u.ravel("F")[1:3] * u.ravel("C")[2:4],
    "a loop": lambda u: [v * v for row in np.atleast_2d(u.T[-1]) for v in row],
    "a sum of parts": lambda u: u[..., ::2].sum() + u.T[1].sum(),
    "a write": changed,
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_temporaries(view, use):
    made, used = VIEWS[view], USES[use]

    def program(x):
        return used(made(x))

    check_program(program, X)


def test_rows_normalised_by_the_transpose():
    check_program(normalised, X, second=True)


@pytest.mark.parametrize("axes", [(2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_three_axes(axes):
    def program(x):
        u = (np.transpose(x, axes) * 2.0).transpose(np.argsort(axes))
        return u[1, 2, 0] * u[0, 1], u[u > 0]

    check_program(program, CUBE, second=True)


# Views of a temporary that nothing else holds, given to functions that return them.
ONLY = {"whole": lambda x: (x * 1.0)[...], "reversed": lambda x: (x * 1.0)[::-1]}
SAME = {
    "diff by position": lambda u: np.diff(u, 0, 1),
    "diff by keyword": lambda u: np.diff(u, n=0),
    "diff of a row": lambda u: np.diff(u[0], 0),
    "nan_to_num": lambda u: np.nan_to_num(u, copy=False),
    "atleast_1d": np.atleast_1d,
    "squeeze": np.squeeze,
}


@pytest.mark.parametrize("function", SAME)
@pytest.mark.parametrize("view", ONLY)
def test_a_function_may_return_its_argument(view, function):
    def program(x):
        u = ONLY[view](x)
        v = SAME[function](u)
        return v * np.where(u > 0.5, 2.0, 3.0)[: len(v)], np.shares_memory(u, v)

    _, _, shares = vjp(program, X, has_aux=True, tier="tape")
    assert shares == program(X)[1]
    check_program(lambda x: program(x)[0], X)
