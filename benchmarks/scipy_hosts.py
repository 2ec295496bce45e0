"""Thirty functions of SciPy in compiled JAX and in PyTorch, beside their own.

Run: `.venv/bin/python benchmarks/scipy_hosts.py [jax | torch] [NAME ...]`. Each
function is measured in its value, and in value and gradient of the sum of its squares,
by jit in JAX. Where the framework has the function itself, `÷ own` is the ratio to it.
Variants run interleaved in one loop; the figure is the median of the processor time of
the whole process.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jax.scipy as js
import numpy as np
import scipy.sparse
import torch

from rules_scipy import (
    fft,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    special,
    stats,
)
from rules_scipy.sparse import as_sparse, linalg as sparse

jax.config.update("jax_enable_x64", True)
SECONDS = float(os.environ.get("BENCHMARK_SECONDS", "1"))
RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 0.8, 10_000)
WAVE, IMAGE, MATRIX = X[:4096], X[:10_000].reshape(100, 100), RNG.normal(size=(60, 60))
SPD = MATRIX @ MATRIX.T + 60 * np.eye(60)
TAPS, SECTIONS = X[:64], np.array([[0.2, 0.3, 0.2, 1.0, -0.5, 0.3]] * 3)
GRID = as_sparse(scipy.sparse.diags_array([X[1:1000] - 2.0, 4.0 + X[:1000], X[1:1000]],
                                          offsets=[-1, 0, 1]).tocsr())  # fmt: skip
PLACES = RNG.uniform(2.0, 97.0, (2, 4000))
KNOTS = np.linspace(0.0, 1.0, 50)


class Case(NamedTuple):
    """A function of one array.

    Attributes:
        ours: The function of `rules_scipy`.
        x: The array.
        in_jax: The function of JAX, or None.
        in_torch: The function of PyTorch, or None.
    """

    ours: Callable[..., Any]
    x: Any = X
    in_jax: Callable[..., Any] | None = None
    in_torch: Callable[..., Any] | None = None


def torch_convolve(x):
    kernel = torch.as_tensor(TAPS).flip(0).reshape(1, 1, -1)
    return torch.nn.functional.conv1d(x.reshape(1, 1, -1), kernel, padding=63)


def jax_convolve(x):
    return js.signal.convolve(x, jnp.asarray(TAPS))


def jax_map(image):
    return js.ndimage.map_coordinates(image, jnp.asarray(PLACES), order=1)


CASES = {
    "gammaln": Case(special.gammaln, X, js.special.gammaln, torch.special.gammaln),
    "digamma": Case(special.digamma, X, js.special.digamma, torch.special.digamma),
    "erf": Case(special.erf, X, js.special.erf, torch.special.erf),
    "erfinv": Case(special.erfinv, X, js.special.erfinv, torch.special.erfinv),
    "expit": Case(special.expit, X, js.special.expit, torch.special.expit),
    "i0e": Case(special.i0e, X, js.special.i0e, torch.special.i0e),
    "ndtri": Case(special.ndtri, X, js.special.ndtri, torch.special.ndtri),
    "xlogy": Case(lambda x: special.xlogy(x, x), X, lambda x: js.special.xlogy(x, x),
                  lambda x: torch.special.xlogy(x, x)),
    "logsumexp": Case(special.logsumexp, X, js.special.logsumexp,
                      lambda x: torch.logsumexp(x, 0)),
    "gammainc": Case(lambda x: special.gammainc(2.5, x), X,
                     lambda x: js.special.gammainc(2.5, x),
                     lambda x: torch.special.gammainc(
                         torch.tensor(2.5, dtype=x.dtype), x)),
    "betainc": Case(lambda x: special.betainc(2.5, 1.5, x), X,
                    lambda x: js.special.betainc(2.5, 1.5, x)),
    "hyp1f1": Case(lambda x: special.hyp1f1(1.5, 2.5, x), X,
                   lambda x: js.special.hyp1f1(1.5, 2.5, x)),
    "kv": Case(lambda x: special.kv(1.5, x)),
    "ellipk": Case(special.ellipk),
    "voigt_profile": Case(lambda x: special.voigt_profile(x, 0.5, 0.3)),
    "norm.logpdf": Case(stats.norm.logpdf, X, js.stats.norm.logpdf),
    "gamma.logpdf": Case(lambda x: stats.gamma.logpdf(x, 2.5), X,
                         lambda x: js.stats.gamma.logpdf(x, 2.5)),
    "solve": Case(lambda a: linalg.solve(a, TAPS[:60]), SPD,
                  lambda a: js.linalg.solve(a, jnp.asarray(TAPS[:60])),
                  lambda a: torch.linalg.solve(a, torch.as_tensor(TAPS[:60]))),
    "expm": Case(linalg.expm, MATRIX / 60, js.linalg.expm, torch.linalg.matrix_exp),
    "svdvals": Case(linalg.svdvals, MATRIX,
                    lambda a: jnp.linalg.svd(a, compute_uv=False),
                    torch.linalg.svdvals),
    "dct": Case(fft.dct, WAVE, js.fft.dct),
    "convolve": Case(lambda x: signal.convolve(x, TAPS), WAVE, jax_convolve,
                     torch_convolve),
    "welch": Case(lambda x: signal.welch(x, nperseg=256)[1], WAVE,
                  lambda x: js.signal.welch(x, nperseg=256)[1]),
    "sosfilt": Case(lambda x: signal.sosfilt(SECTIONS, x), WAVE),
    "map_coordinates": Case(lambda x: ndimage.map_coordinates(x, PLACES, order=1),
                            IMAGE, jax_map),
    "gaussian_filter": Case(lambda x: ndimage.gaussian_filter(x, 2.0), IMAGE),
    "CubicSpline": Case(lambda y: interpolate.CubicSpline(KNOTS, y)(X), X[:50]),
    "spsolve": Case(lambda d: sparse.spsolve(GRID.with_data(d), X[:1000]), GRID.data),
    "expm_multiply": Case(
        lambda d: sparse.expm_multiply(GRID.with_data(-d), X[:1000]), GRID.data
    ),
    "brentq": Case(lambda x: optimize.brentq(lambda z: z**3 - x[0], 0.0, 2.0), X[:1]),
}  # fmt: skip


def loss_of(f):
    return lambda x: (f(x) ** 2).sum()


def in_jax(f, x):
    """Calls of the value, and of value and gradient."""
    loss, x = loss_of(f), jnp.asarray(x)
    value, both = jax.jit(loss), jax.jit(jax.value_and_grad(loss))
    return [
        lambda: jax.block_until_ready(value(x)),
        lambda: jax.block_until_ready(both(x)),
    ]


def in_torch(f, x):
    loss = loss_of(f)
    plain, leaf = torch.tensor(x), torch.tensor(x, requires_grad=True)

    def both():
        value = loss(leaf)
        return value, torch.autograd.grad(value, leaf)[0]

    return [lambda: loss(plain), both]


HOSTS = {"jax": in_jax, "torch": in_torch}


def medians(calls):
    """Processor seconds of each call, in turns."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < 3:
        for call, own in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            own.append(time.process_time() - start)
    return [statistics.median(own) for own in times]


def row(host, name):
    case, make = CASES[name], HOSTS[host]
    own = getattr(case, f"in_{host}")
    calls = make(case.ours, case.x) + (make(own, case.x) if own else [])
    if own:  # one function: gradients agree
        np.testing.assert_allclose(calls[1]()[1], calls[3]()[1], rtol=1e-4, atol=1e-6)
    value, both, *theirs = medians(calls)
    ratios = [a / b for a, b in zip((value, both), theirs, strict=False)] or [None] * 2
    cells = ["–" if r is None else f"{r:.2g}" for r in ratios]
    times = [f"{1e6 * t:.0f} µs" for t in (value, both)]
    line = " | ".join([f"`{name}`", *times, f"{both / value:.1f}", *cells])
    print(f"| {line} |", flush=True)


def main(arguments):
    hosts = [a for a in arguments if a in HOSTS] or list(HOSTS)
    names = [a for a in arguments if a not in HOSTS] or list(CASES)
    for host in hosts:
        print(f"\n{host}\n| function | value | with gradient | ratio | value ÷ own | "
              "with gradient ÷ own |\n|---|---|---|---|---|---|")  # fmt: skip
        for name in names:
            row(host, name)


if __name__ == "__main__":
    main(sys.argv[1:])
