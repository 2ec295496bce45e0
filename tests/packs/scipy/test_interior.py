"""Every function, host, mode and order at interior points, against mpmath."""

import numpy as np
import pytest

from rules_scipy import special

from .hosts import MODES
from .references import CASES, COMPLEX, load

TABLE = load()

# Relative to max(|derivative|, |derivative of one order less|): a derivative that
# crosses zero inherits the rounding of the terms that it is a difference of.
TOLERANCE = 2e-12
LOOSE = {
    "ive": 5e-11,
    "kve": 5e-11,
    "beta": 1e-11,
    "gammainc": 5e-12,
    "gammaincc": 5e-12,
}


def columns(points):
    return [np.array(column) for column in zip(*points, strict=True)]


def cases():
    for name, (_, _, orders) in CASES.items():
        for argnum, highest in enumerate(orders):
            for host, modes in MODES:
                if highest and len(modes) in {1, highest}:  # the third holds the second
                    yield pytest.param(
                        name,
                        argnum,
                        host,
                        modes,
                        id=f"{name}-{argnum}-{host.name}-{modes}",
                    )


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize(("name", "argnum", "host", "modes"), list(cases()))
def test_derivative_equals_mpmath(name, argnum, host, modes):
    points = CASES[name][1]
    got = host.derivative(
        getattr(special, name),
        [c if i else as_order(name, c) for i, c in enumerate(columns(points))],
        argnum,
        modes,
    )
    order = len(modes)
    known = np.array([row[argnum] for row in TABLE["real"][name]])
    scale = np.maximum(np.abs(known[:, order]), np.abs(known[:, order - 1]))
    allowed = LOOSE.get(name, TOLERANCE) * scale + 1e-30  # mpmath's own zeros
    assert (np.abs(got - known[:, order]) <= allowed).all(), (got, known[:, order])


def as_order(name, column):
    return column.astype(int) if name == "polygamma" else column.astype(float)


def complex_cases():
    for name, (_, _, highest) in COMPLEX.items():
        for host, modes in MODES:
            if modes in {"f", "r", "rr", "fff"} and len(modes) <= highest:
                yield pytest.param(name, host, modes, id=f"{name}-{host.name}-{modes}")


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize(("name", "host", "modes"), list(complex_cases()))
def test_complex_derivative_equals_mpmath(name, host, modes):
    _, points, _ = COMPLEX[name]
    got = host.derivative(
        getattr(special, name), columns(points), len(points[0]) - 1, modes
    )
    known = np.array(TABLE["complex"][name])[:, len(modes)] @ [1, 1j]
    # JAX's cotangents are conjugate to those of ChainRules and PyTorch.
    got = np.conj(got) if "r" in modes and host.name != "jax" else got
    assert np.allclose(got, known, rtol=1e-11, atol=0), (got, known)
