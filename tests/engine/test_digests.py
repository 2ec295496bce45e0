"""Caches whose keys are bytes, digests and texts of values: an error, never zero."""

import binascii
import hashlib
import itertools
import zlib

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, vjp

X = np.array([0.5, -1.0, 2.0])


def updated(x):
    state = hashlib.sha256()
    state.update(x.tobytes())
    state.update(b"more")
    return state.copy().hexdigest()


# From an array to the key of a cache.
KEYS = {
    "tobytes": lambda x: x.tobytes(),
    "bytes": lambda x: bytes(x),
    "bytearray": lambda x: bytes(bytearray(x)),
    "slice": lambda x: x.tobytes()[:16],
    "sum": lambda x: x.tobytes() + b"|" + x.tobytes(),
    "number": lambda x: x[0].tobytes() + x[2].tobytes(),
    "hex": lambda x: x.tobytes().hex(),
    "sha1": lambda x: hashlib.sha1(x.tobytes()).hexdigest(),
    "digest": lambda x: hashlib.sha1(x.tobytes()).digest(),
    "of the array": lambda x: hashlib.md5(x).hexdigest(),
    "new": lambda x: hashlib.new("sha256", x.tobytes()).hexdigest(),
    "blake2b": lambda x: hashlib.blake2b(x.tobytes(), digest_size=8).hexdigest(),
    "shake": lambda x: hashlib.shake_128(x.tobytes()).hexdigest(8),
    "update": updated,
    "crc32": lambda x: zlib.crc32(x.tobytes()),
    "adler32": lambda x: zlib.adler32(x.tobytes()),
    "binascii": lambda x: binascii.crc32(x.tobytes()),
    "hash": lambda x: hash(x.tobytes()),
    "hash of a tuple": lambda x: hash((x.shape, x.tobytes())),
    "tuple": lambda x: (x.shape, x.tobytes()),
    "tuple of a digest": lambda x: ("key", hashlib.sha1(x.tobytes()).hexdigest()),
    "repr": lambda x: repr(x),
    "list": lambda x: str(x.tolist()),
    "format": lambda x: f"{x[0]:.6f},{x[1]:.6f},{x[2]:.6f}",
    "join": lambda x: ",".join([f"{v:.6f}" for v in x]),
    "encode": lambda x: hashlib.sha1(str(x.tolist()).encode()).hexdigest(),
    "round": lambda x: np.round(x, 6).tobytes(),
    "rounded digest": lambda x: hashlib.sha1(x.round(6)).hexdigest(),
    "rounded number": lambda x: round(float(x[0]), 6),
    "tuple of rounded ones": lambda x: (*np.round(x, 6).tolist(),),
    "upper": lambda x: str(x.tolist()).replace(" ", "").upper(),
    "concatenated": lambda x: str(x[0]) + "," + str(x[1]) + "," + str(x[2]),
    "percent": lambda x: "%.6f,%.6f,%.6f" % tuple(x),  # noqa: UP031
}


# Their numbers are no longer known when a tuple is made of them.
ROUNDED = {"tuple of rounded ones"}


class Cache:
    def __init__(self):
        self.key = self.value = None
        self.table = {}
        self.keys, self.values = [], []


def by_item(cache, key, compute):
    if key not in cache.table:
        cache.table[key] = compute()
    return cache.table[key]


def by_get(cache, key, compute):
    found = cache.table.get(key)
    if found is None:
        found = cache.table[key] = compute()
    return found


def by_error(cache, key, compute):
    try:
        return cache.table[key]
    except KeyError:
        cache.table[key] = compute()
    return cache.table[key]


def by_last(cache, key, compute):
    if cache.key != key:
        cache.key, cache.value = key, compute()
    return cache.value


def by_equal(cache, key, compute):
    if cache.key is not None and key == cache.key:
        return cache.value
    cache.key, cache.value = key, compute()
    return cache.value


def by_search(cache, key, compute):
    for known, value in zip(cache.keys, cache.values, strict=True):
        if known == key:
            return value
    cache.keys.append(key)
    cache.values.append(compute())
    return cache.values[-1]


def by_place(cache, key, compute):
    if key not in cache.keys:
        cache.keys.append(key)
        cache.values.append(compute())
    return cache.values[cache.keys.index(key)]


LOOKUPS = [by_item, by_get, by_error, by_last, by_equal, by_search, by_place]
CASES = list(itertools.product(KEYS, LOOKUPS))
IDS = [f"{name}-{look_up.__name__}" for name, look_up in CASES]


def program(name, look_up):
    cache, key_of = Cache(), KEYS[name]

    def f(x):
        return look_up(cache, key_of(x), lambda: np.sum(x**3))

    return f


def scaled(name, look_up):
    """A program that goes on with what the cache gave."""
    f = program(name, look_up)
    return lambda x: f(x) * x[0]


def modes(f, x):
    one = np.ones_like(x)
    return [
        lambda: grad(f)(x),
        lambda: jvp(f, (x,), (one,))[1],
        lambda: vjp(f, x)[1](1.0)[0],
    ]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("name", "look_up"), CASES, ids=IDS)
def test_warm_cache(name, look_up):
    """The program was run at this point before, by itself or with a derivative."""
    f = program(name, look_up) if name in ROUNDED else scaled(name, look_up)
    f(X)
    for run in modes(f, X):
        with pytest.raises(UnsupportedProgram):
            run()


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("name", "look_up"), CASES, ids=IDS)
def test_cold_cache(name, look_up):
    for i, wanted in enumerate((3 * X**2, np.sum(3 * X**2), 3 * X**2)):
        f = program(name, look_up)
        f(X + 1.0)
        np.testing.assert_allclose(modes(f, X)[i](), wanted)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("name", "look_up"), CASES, ids=IDS)
def test_cache_of_the_same_run(name, look_up):
    once = program(name, look_up)

    def f(x):
        return once(x) + once(x * 1.0)

    np.testing.assert_allclose(grad(f)(X), 6 * X**2)


@pytest.mark.parametrize("name", KEYS)
def test_constants_may_be_cached(name):
    look_up = by_last if name in ("bytes", "sha1") else by_item
    f = program(name, look_up)

    def g(x):
        return np.sum(x) * f(X)

    for _ in range(2):
        np.testing.assert_allclose(grad(g)(X), np.sum(X**3) * np.ones(3))


@pytest.mark.parametrize("host", ["jax", "torch"])
def test_rules_derived_for_hosts(host):
    """The host runs the program first, and its derivative then: a warm cache."""
    f = program("sha1", by_item)
    if host == "jax":
        jax = pytest.importorskip("jax")
        from rules_jax import to_jax

        made = to_jax(f, host=True, out=lambda x: np.float32(0.0))
        with pytest.raises(Exception, match="dict must be asked"):
            jax.grad(made)(jax.numpy.asarray(X, "float32")).block_until_ready()
        return
    torch = pytest.importorskip("torch")
    from rules_torch import to_torch

    x = torch.tensor(X, requires_grad=True)
    with pytest.raises(UnsupportedProgram, match="dict must be asked"):
        to_torch(f, host=True)(x).backward()


def test_bytes_read_as_numbers():
    for read in (
        lambda b: b[0] * 1.0,
        lambda b: sum(b) * 1.0,
        lambda b: float(list(b)[7]),
        lambda b: int.from_bytes(b, "little") * 1e-20,
        lambda b: float(max(b)),
        lambda b: [v * 1.0 for v in b][6],
        lambda b: float(tuple(b)[5]),
        lambda b: float(b[-1]),
    ):
        for run in modes(lambda x, read=read: read(x.tobytes()) * x[0], X):
            with pytest.raises(UnsupportedProgram):
                run()
