"""Every function of the pack, in every argument: SciPy's differences, tester, hosts."""

from itertools import groupby
from operator import itemgetter

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import check_rule
from rules_scipy import special

from .hosts import MODES
from .special_points import POINTS

# Differences of SciPy's own values show nothing where these are coarse or jump.
COARSE = {
    "stdtridf": "solved to six digits",
    "modfresnelm": "wrong values of F for negative arguments",
    "ncfdtridfn": "solved to eight digits",
    "ncfdtridfd": "solved to eight digits",
    "fdtridfd": "solved to eight digits",
    "ncfdtrinc": "solved to eight digits",
    "nctdtridf": "solved to eight digits",
    "nctdtrinc": "solved to eight digits",
    "itairy": "nine digits",
    "smirnov": "another formula beyond each step of 1 / n",
}
TOLERANCE = dict.fromkeys(COARSE, 0.0001)
TOLERANCE |= {"fresnel": 1e-6, "ncfdtridfn": 1e-3, "ncfdtridfd": np.inf}
# Not holomorphic in a parameter, which SciPy takes as a real number.
CAUCHY = {f"{kind}.cauchy-riemann" for kind in ("rrule", "frule")}


def numbers(point):
    return [x if type(x) in (int, bool, str) else np.asarray(x)[()] for x in point]


CASES = [
    (name, point, i)
    for name, points in POINTS.items()
    for point in points
    for i, x in enumerate(point)
    if isinstance(x, float) and (name, i) != ("lambertw", 2)
]


def outputs(y):
    return [np.asarray(part) for part in (y if isinstance(y, tuple) else (y,))]


def slope_by_rule(name, point, i):
    args = numbers(point)
    tangents = [rc.NoTangent()] * (len(args) + 1)
    tangents[i + 1] = np.float64(1.0)
    y, dy = rc.frule(tuple(tangents), getattr(special, name), *args)
    return outputs(y), dy


def step_at(x):
    return 2.0 ** np.floor(np.log2(0.008 * max(abs(x), 0.1)))


def slope_by_differences(name, point, i):
    """Twelve points around, by a polynomial of degree twelve."""
    f, x = getattr(special, name).fun, point[i]
    step = step_at(x)
    offsets = np.array([k for k in range(-6, 7) if k])
    weights = np.linalg.solve(
        np.vander(offsets.astype(float), increasing=True).T, np.eye(12)[1]
    )
    total = 0
    for k, weight in zip(offsets, weights, strict=True):
        args = [*point[:i], x + k * step, *point[i + 1 :]]
        total = total + weight / step * np.array(outputs(f(*args)))
    return total


@pytest.mark.parametrize("name", sorted(POINTS))
def test_each_partial_is_the_slope_of_scipy_s_values(name):
    for other, point, i in CASES:
        if other == name:
            compare(name, point, i)


def compare(name, point, i):
    y, dy = slope_by_rule(name, point, i)
    parts = list(dy) if isinstance(dy, rc.Tangent) else [dy]
    if all(isinstance(part, rc.NotImplementedTangent) for part in parts):
        assert len(parts[0].info) > 20
        return
    known = slope_by_differences(name, point, i)
    for part, value, got in zip(y, known, parts, strict=True):
        assert np.isfinite(got).all()
        scale = np.maximum(np.abs(value), 0.01 * np.abs(part))
        noise = 4e-14 * np.max(np.abs(part)) / step_at(point[i])
        allowed = TOLERANCE.get(name, 1e-9) * scale + noise
        assert (np.abs(got - value) <= allowed).all(), (point, i, got, value)


def arrays_near(point):
    return [
        np.array([x, 1.02 * x]) if isinstance(x, float) else np.asarray(x)
        if isinstance(x, tuple) else x
        for x in point
    ]  # fmt: skip


# What the tester cannot ask: numbers that are no argument of a derivative, and those
# of a whole number that SciPy takes as a float.
# Or those that SciPy solves to fewer digits than the tester asks for.
UNTESTED = {"logsumexp", "lambertw", "besselpoly", "bdtrik", "nbdtrik"} | {
    n for n in POINTS if n.endswith("_cv")
}


@pytest.mark.parametrize("z", [0.7, 1.5, -0.2])
def test_lambert_s_tolerance_has_the_derivative_zero(z):
    check_rule(special.lambertw, np.asarray(z), hosts=())
    check_rule(special.lambertw, np.asarray(z), 0, 1e-8, hosts=())


@pytest.mark.covering(every=90)
@pytest.mark.parametrize("name", sorted(set(POINTS) - UNTESTED - set(COARSE)))
def test_rules_pass_the_tester(name):
    args = arrays_near(POINTS[name][0])
    floats = sum(isinstance(x, np.ndarray) for x in args)
    skip = CAUCHY if floats > 1 else set()
    check_rule(getattr(special, name), *args, hosts=(), skip=skip)


def compared():
    for name, points in POINTS.items():
        point = points[0]
        last = max((i for i, x in enumerate(point) if isinstance(x, float)), default=0)
        if name in UNTESTED or name in COARSE or not isinstance(point[last], float):
            continue
        for host, modes in MODES:
            if host.name != "rules" and name != "sinc":  # NumPy's: no second order
                yield name, point, last, host, modes


PRODUCT = list(compared())
# Of each function a third, in each host; of each host and mode every third function.
IN_TURN = [
    case
    for k, (_, cases) in enumerate(groupby(PRODUCT, key=itemgetter(0)))
    for i, case in enumerate(cases)
    if (i + k) % 3 == 0
]


def total(f):
    """The sum of the outputs of `f`, real: one number per point in every host.

    Functions of all degrees put them into axes before those of the points.
    """

    def summed(*args):
        parts = f(*args)
        parts = parts if isinstance(parts, tuple) else (parts,)
        xp = rc.array_namespace(*parts)
        parts = [xp.sum(p, axis=tuple(range(p.ndim - 2))) if p.ndim > 2 else p
                 for p in parts]  # fmt: skip
        return sum(
            xp.real(part) + xp.imag(part)
            if xp.isdtype(part.dtype, "complex floating")
            else part
            for part in parts
        )

    return summed


def name_of(case):
    name, _, _, host, modes = case
    return f"{name}-{host.name}-{modes}"


@pytest.mark.covering(every=57)
@pytest.mark.parametrize("case", PRODUCT[::29], ids=name_of)
def test_hosts_agree(case):
    """With themselves, once differentiated less, by differences."""
    compare_host(*case)


@pytest.mark.nightly
@pytest.mark.parametrize("case", IN_TURN, ids=name_of)
def test_every_host_mode_and_order(case):
    compare_host(*case)


def compare_host(name, point, i, host, modes):
    f = total(getattr(special, name))

    def along(x, order):
        args = [np.full_like(x, y) if isinstance(y, float) else y for y in point]
        fixed = [host.array(a) if isinstance(a, np.ndarray) else a for a in args]

        def function(t):
            return f(*fixed[:i], t, *fixed[i + 1 :])

        for mode in modes[:order]:
            function = host.once(function, mode)
        return host.back(function(host.array(x)))

    step = 2.0**-9
    offsets = np.array([[-2], [-1], [1], [2]]) * step
    weights = np.array([[1], [-8], [8], [-1]]) / (12 * step)
    x = np.array([[point[i]]])
    try:
        got = along(x, len(modes))
        near = along(x + offsets, len(modes) - 1)
    except rc.DerivativeNotImplemented:
        return  # in words
    known, size = (weights * near).sum(axis=-2), np.abs(near).max()
    assert np.allclose(got, known, rtol=1e-6, atol=1e-6 * size), (got, known)
