"""Calls of `scipy.ndimage`: functions of a module and of the arrays that move."""

from itertools import product

import numpy as np

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 5))
CUBE = RNG.normal(size=(4, 2, 5))
LABELS = RNG.permutation(np.repeat([0, 1, 2, 3], 5)).reshape(X.shape)
PLACES = RNG.uniform(-7, 11, size=(2, 6))
FOOTPRINT = np.array([[1, 0, 1], [1, 1, 0]], bool)
EDGE = np.float64(0.3)
MODES = (
    "reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror",
    "grid-constant", "grid-wrap",
)  # fmt: skip


def complex_of(x):
    return x + 1j * np.roll(x, 1)


# Window sizes and origins, odd and even, and longer than the image.
WINDOWS_1D = ((3, 0), (3, -1), (4, 0), (4, -2), (5, 2), (12, 3))
WINDOWS = (((3, 3), 0), ((2, 4), (-1, 0)), ((4, 3), (0, 1)), ((7, 8), 0))


def filters(mode):
    """Linear filters in one mode."""
    for (size, origin), name in product(WINDOWS_1D, ("correlate1d", "convolve1d")):
        if name == "convolve1d" and origin:
            origin = -origin - (size % 2 == 0)  # noqa: PLW2901  the other side
        own = {"axis": 0, "mode": mode, "origin": origin}
        w = RNG.normal(size=size)
        yield name, (X, w, EDGE), own
        yield name, (complex_of(X), complex_of(w), EDGE), own
    for (size, origin), name in product(WINDOWS, ("correlate", "convolve")):
        if name == "convolve" and origin:
            origin = 0  # noqa: PLW2901
        own = {"mode": mode, "origin": origin}
        yield name, (X, RNG.normal(size=size), EDGE), own
    for name, axes in product(("correlate", "convolve"), ((0, 2), (2, 0))):
        own = {"mode": mode, "axes": axes}
        yield name, (CUBE, RNG.normal(size=(3, 2)), EDGE), own
    yield (
        "uniform_filter1d",
        (complex_of(X), EDGE),
        {"size": 5, "axis": 0, "mode": mode},
    )
    yield "uniform_filter", (X, EDGE), {"size": (4, 3), "origin": (1, 0), "mode": mode}
    for name in ("sobel", "prewitt"):
        yield name, (X, EDGE), {"axis": 0, "mode": mode}
    yield "laplace", (X, EDGE), {"mode": mode}
    width = np.float64(0.8)
    yield "gaussian_filter1d", (X, width, EDGE), {"axis": 0, "order": 3, "mode": mode}
    widths = np.array([0.8, 1.3])
    yield "gaussian_filter", (X, widths, EDGE), {"order": (0, 1), "mode": mode}
    yield "gaussian_laplace", (X, width, EDGE), {"mode": mode, "truncate": 3.0}
    yield "gaussian_gradient_magnitude", (X + 3 * LABELS, width, EDGE), {"mode": mode}


def splines(mode):
    """Splines and geometric functions in one mode."""
    for order in range(2, 6):
        for n in (1, 2, 5, 70):
            own = {"order": order, "axis": 0, "mode": mode}
            yield "spline_filter1d", (RNG.normal(size=(n, 2)),), own
        yield "spline_filter", (X,), {"order": order, "mode": mode}
    for order, prefilter in product(range(6), (True, False)):
        own = {"order": order, "mode": mode, "prefilter": prefilter}
        yield "map_coordinates", (X, PLACES, EDGE), own
    for order in (1, 3, 4):
        own = {"order": order, "mode": mode}
        matrix = np.array([[0.913, 0.207], [-0.103, 1.117]])
        offset = np.array([0.317, -0.423])
        yield "affine_transform", (X, matrix, offset, EDGE), own
        yield "affine_transform", (X, matrix.diagonal().copy(), offset, EDGE), own
        yield "shift", (complex_of(X), offset, EDGE), own
        yield "zoom", (X, EDGE), own | {"zoom": (1.7, 0.6)}
        yield "rotate", (X, np.float64(33.0), EDGE), own
        yield "rotate", (CUBE, np.float64(33.0), EDGE), own | {
            "axes": (2, 0), "reshape": False
        }  # fmt: skip
        yield "geometric_transform", (X, EDGE), own | {"mapping": turned}


def turned(place):
    return 0.913 * place[0] + 0.317, place[1] - 0.723 * place[0]


MORPHOLOGY = (
    "grey_erosion", "grey_dilation", "grey_opening", "grey_closing",
    "morphological_gradient", "morphological_laplace", "white_tophat", "black_tophat",
)  # fmt: skip


def selections(mode):
    """Ranks, extrema and grey morphology in one mode."""
    for name in ("minimum_filter", "maximum_filter", "median_filter"):
        yield name, (X, EDGE), {"size": (2, 4), "origin": (0, 1), "mode": mode}
        yield name, (X, EDGE), {"footprint": FOOTPRINT, "origin": (-1, 1), "mode": mode}
        own = {"footprint": FOOTPRINT, "axes": (2, 0), "origin": (1, 0), "mode": mode}
        yield name, (CUBE, EDGE), own
        yield name, (CUBE, EDGE), {"size": (2, 3), "axes": (0, 2), "mode": mode}
    for name in ("minimum_filter1d", "maximum_filter1d"):
        yield name, (X, EDGE), {"size": 4, "axis": 0, "origin": 1, "mode": mode}
    yield "rank_filter", (X, EDGE), {"rank": -3, "footprint": FOOTPRINT, "mode": mode}
    yield "percentile_filter", (X, EDGE), {"percentile": 30, "size": 3, "mode": mode}
    heights = RNG.normal(size=FOOTPRINT.shape)
    for name in MORPHOLOGY:
        yield name, (X, EDGE), {"size": 3, "mode": mode}
        yield name, (X, heights, EDGE), {"mode": mode}
        own = {"footprint": FOOTPRINT, "origin": (0, -1), "mode": mode}
        yield name, (X, heights, EDGE), own


PARTS: tuple[dict, ...] = (
    {}, {"labels": LABELS}, {"labels": LABELS, "index": 2},
    {"labels": LABELS, "index": [3, 1, 3]},
    {"labels": LABELS * 1.5, "index": np.array([3.0, 1.5])},
)  # fmt: skip


def measurements():
    """Measurements, and filters of spectra."""
    names = ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum",
             "maximum", "median", "extrema", "center_of_mass")  # fmt: skip
    for name, parts in product(names, PARTS):
        yield name, (X + 4.0,), parts
    for n, axis in ((-1, -1), (8, 1), (7, 0)):
        own = {"n": n, "axis": axis}
        yield "fourier_gaussian", (X, np.array([0.7, 1.2])), own
        yield "fourier_uniform", (complex_of(X), np.array([1.7, 2.2])), own
        yield "fourier_shift", (X, np.array([0.7, -1.2])), own
        yield "fourier_ellipsoid", (complex_of(X),), own | {"size": (1.7, 2.2)}


# Names of the arrays after the image.
SECOND = {
    "correlate1d": "weights", "convolve1d": "weights", "correlate": "weights",
    "convolve": "weights", "gaussian_filter1d": "sigma", "gaussian_filter": "sigma",
    "gaussian_laplace": "sigma", "gaussian_gradient_magnitude": "sigma",
    "map_coordinates": "coordinates", "affine_transform": "matrix", "shift": "shift",
    "rotate": "angle", "fourier_gaussian": "sigma", "fourier_uniform": "size",
    "fourier_shift": "shift",
}  # fmt: skip


def names_of(name, count):
    """The names of the arrays of a case."""
    names = ["input", SECOND.get(name, "structure"), "offset", "cval"]
    if name.startswith("fourier") or count == 1:
        return names[:count]
    if count == 2:
        return ["input", "cval"]
    return names if count == 4 else [*names[:2], "cval"]


def call_of(case):
    """A case as a function of a module and its arrays."""
    name, arrays, options = case
    names = names_of(name, len(arrays))

    def call(module, *xs):
        y = getattr(module, name)(**dict(zip(names, xs, strict=True)), **options)
        if name == "extrema":
            return y[0] + 2 * y[1]
        return stacked(y) if name == "center_of_mass" else y

    return call, arrays


def stacked(y):
    """A number made of all coordinates."""
    rows = [y] if isinstance(y, tuple) else y
    return sum((i + j + 1) * x for i, row in enumerate(rows) for j, x in enumerate(row))


CASES = [
    *[case for mode in MODES for make in (filters, splines, selections)
      for case in make(mode)],
    *measurements(),
]  # fmt: skip
# For the frameworks: one of each function.
ONE_EACH = {
    case[0]: case for case in CASES if case[2].get("order") in (None, 3, (0, 1))
}
