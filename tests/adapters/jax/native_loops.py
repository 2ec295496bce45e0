"""The loops of NumPy's and SciPy's ufuncs, arrays for them, and comparison by bits."""

import numpy as np
import scipy.special

# SciPy itself crashes, or takes minutes, at some of the arguments below.
_LEFT_OUT = ("mathieu", "pro_", "obl_", "hyp", "ncfdtri", "stdtrit", "wright")
_XLA = "?bhilqBHILQefdFD"


def _ufuncs():
    found = {}
    for module in (np, scipy.special):
        for name in dir(module):
            u = getattr(module, name)
            if isinstance(u, np.ufunc) and not u.signature:
                found[name] = u
    return {n: u for n, u in found.items() if not n.startswith(_LEFT_OUT)}


def _loops():
    pairs = {}
    for name, u in _ufuncs().items():
        for types in u.types:
            inputs = types.partition("->")[0]
            if set(inputs) <= set(_XLA):
                dtypes = tuple(map(np.dtype, inputs))
                pairs[name, dtypes] = u, dtypes
    # Integer powers raise at negative exponents.
    return [p for (n, d), p in pairs.items() if "pow" not in n or d[0].kind in "fc"]


LOOPS = _loops()
# One shape per operand: long, short, none, broadcast in turn, empty.
SHAPES = {
    "long": [(257,)] * 8,
    "short": [(5,)] * 8,
    "number": [()] * 8,
    "broadcast": [(3, 1, 5), (1, 4, 1), (5,), (4, 5), (), (3, 4, 5), (1,), (1, 1)],
    "empty": [(0, 3)] * 8,
}
_ODD = [0.0, -0.0, np.nan, 1, -1, 0.5, 1e-40, 1e-310, -1e-310, 1e-308, 2, 3, 7]


def arrays(dtypes, shapes, seed=0):
    """Arguments with zeros, subnormal numbers and NaN among them."""
    rng = np.random.default_rng(seed)
    pairs = zip(dtypes, shapes, strict=False)
    return [_array(rng, dtype, shape) for dtype, shape in pairs]


def _array(rng, dtype, shape):
    if dtype.kind in "biu":
        low = -3 if dtype.kind == "i" else 0
        return rng.integers(low, 2 if dtype.kind == "b" else 9, shape).astype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            return (_real(rng, shape) + 1j * _real(rng, shape)).astype(dtype)
        return _real(rng, shape).astype(dtype)


def _real(rng, shape):
    x = rng.normal(size=shape) * rng.choice([1e-3, 1, 9], shape)
    return np.where(rng.random(shape) < 0.3, rng.choice(_ODD, shape), x)


def same_bits(x, y):
    """Whether two arrays are the same to the bit, any NaN being like any other."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind not in "fc":
        return bool((x == y).all())
    x, y = (np.ascontiguousarray(z).reshape(-1).view(z.real.dtype) for z in (x, y))
    bits = f"u{x.itemsize}"
    return bool(((x.view(bits) == y.view(bits)) | (np.isnan(x) & np.isnan(y))).all())
