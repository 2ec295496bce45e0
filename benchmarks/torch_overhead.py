"""What a primitive costs in PyTorch, beside hand-written Functions and native code.

All rows of a table are measured in random turns, in slices of a millisecond of this
process's own time, and the best slice counts, so that a busy machine slows all of them
alike.

Like is to be compared with like, so there are rules of two kinds. One keeps sine and
cosine for the backward pass, as the older `forward(ctx, …)` style does, which is wrong
at second order. The other, marked `x kept`, keeps the argument alone and computes both
again, as the `setup_context` style does, which is right under `torch.func`; there is
also such a Function that keeps them, which have to be outputs then. Every pair is
printed.

Run it by `python benchmarks/torch_overhead.py [--compiled] [--across] [--rounds N]`;
`--across` measures `from_jax` in PyTorch and `from_torch` in JAX, on few elements.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import rules_core as rc

Timings = dict[str, float]


@rc.primitive
def sinmul(x):
    """`sin(x) x`."""
    return torch.sin(x) * x


def sinmul_pullback(x, s, c, dy):
    """`(s + x c) dy`."""
    return rc.NoTangent(), dy * (s + x * c)


@rc.rrule.define(sinmul)
def sinmul_rrule(x: rc.Array):
    """Keeps sine and cosine, as the older hand-written Function does."""
    s, c = torch.sin(x), torch.cos(x)
    return s * x, rc.Pullback(sinmul_pullback, x, s, c)


@rc.primitive
def sinmul_closure(x):
    """The same with a closure for a pullback."""
    return torch.sin(x) * x


@rc.rrule.define(sinmul_closure)
def sinmul_closure_rrule(x: rc.Array):
    """The pullback captures input, sine and cosine."""
    s, c = torch.sin(x), torch.cos(x)

    def pullback(dy):
        return rc.NoTangent(), dy * (s + x * c)

    return s * x, pullback


@rc.primitive
def sinmul_lean(x):
    """The same with a rule that keeps the argument only."""
    return torch.sin(x) * x


def lean_pullback(x, dy):
    """`(sin x + x cos x) dy`."""
    return rc.NoTangent(), dy * (torch.sin(x) + x * torch.cos(x))


@rc.rrule.define(sinmul_lean)
def sinmul_lean_rrule(x: rc.Array):
    """Computes sine and cosine again, as the `setup_context` style does."""
    return torch.sin(x) * x, rc.Pullback(lean_pullback, x)


class SetupContext(torch.autograd.Function):
    """Hand-written for torch.func."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        """`sin(x) x`."""
        return torch.sin(x) * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the input."""
        del output
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, dy):
        """Computes sine and cosine again."""
        (x,) = ctx.saved_tensors
        return dy * (torch.sin(x) + x * torch.cos(x))


class SetupContextKept(torch.autograd.Function):
    """Hand-written for torch.func; what it keeps are outputs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        """`sin(x) x`, sine and cosine."""
        s, c = torch.sin(x), torch.cos(x)
        return s * x, s, c

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep the input and what was computed."""
        ctx.save_for_backward(*inputs, *output[1:])

    @staticmethod
    def backward(ctx, dy, ds, dc):
        """`(s + x c) dy`, and what comes through sine and cosine."""
        x, s, c = ctx.saved_tensors
        return dy * (s + x * c) + ds * c - dc * s


def kept(x):
    """The first output."""
    return SetupContextKept.apply(x)[0]


class ForwardContext(torch.autograd.Function):
    """Hand-written in the older style."""

    @staticmethod
    def forward(ctx, x):
        """`sin(x) x`; keeps sine and cosine."""
        s, c = torch.sin(x), torch.cos(x)
        ctx.save_for_backward(x, s, c)
        return s * x

    @staticmethod
    def backward(ctx, dy):
        """`(s + x c) dy`."""
        x, s, c = ctx.saved_tensors
        return dy * (s + x * c)


def native(x):
    """`sin(x) x`."""
    return torch.sin(x) * x


EAGER = {
    "native": native,
    "forward(ctx)": ForwardContext.apply,
    "setup_context": SetupContext.apply,
    "setup_context, kept": kept,
    "primitive": sinmul,
    "primitive, closure": sinmul_closure,
    "primitive, x kept": sinmul_lean,
}
FUNC = {name: f for name, f in EAGER.items() if name != "forward(ctx)"}


def race(
    jobs: dict[str, Callable[[], Any]], rounds: int, budget: float = 0.001
) -> Timings:
    """Best time per call of each job, in microseconds; the jobs take turns."""
    best = dict.fromkeys(jobs, float("inf"))
    count: dict[str, int] = {}
    for name, job in jobs.items():
        count[name] = 10
        while _slice(job, count[name]) < budget:
            count[name] *= 2
    order = list(jobs)
    turns = random.Random(0)  # whoever comes after a slow one finds cold caches
    for _ in range(rounds):
        turns.shuffle(order)
        for name in order:
            taken = _slice(jobs[name], count[name]) / count[name]
            best[name] = min(best[name], taken * 1e6)
    return best


def _slice(job: Callable[[], Any], count: int) -> float:
    """What some calls take, in seconds of processor time."""
    start = time.process_time()
    for _ in range(count):
        job()
    return time.process_time() - start


def show(title: str, times: Timings) -> None:
    """A row of times and ratios to the hand-written ones."""
    print(f"\n{title}")
    for name, taken in times.items():
        ratios = "".join(
            f"  {taken / times[base]:6.2f} x {base}"
            for base in ("setup_context", "forward(ctx)", "native", "bare")
            if base in times and base != name
        )
        print(f"  {name:20s}{taken:9.1f} us{ratios}")


def backward(f: Callable[[Any], Any], x: torch.Tensor, seed: torch.Tensor) -> None:
    """One forward and one backward pass."""
    torch.autograd.backward(f(x), seed)
    x.grad = None


def eager(n: int, rounds: int) -> None:
    """No-grad, forward, forward and backward."""
    x, seed = torch.rand(n), torch.ones(n)
    leaf = x.clone().requires_grad_()
    show(
        f"n={n}, no grad", race({k: lambda f=f: f(x) for k, f in EAGER.items()}, rounds)
    )
    show(
        f"n={n}, forward",
        race({k: lambda f=f: f(leaf) for k, f in EAGER.items()}, rounds),
    )
    jobs = {k: lambda f=f: backward(f, leaf, seed) for k, f in EAGER.items()}
    show(f"n={n}, forward and backward", race(jobs, rounds))


def transforms(n: int, rounds: int) -> None:
    """torch.func.grad and vmap of it."""
    x = torch.rand(n)
    grads = {k: torch.func.grad(lambda x, f=f: f(x).sum()) for k, f in FUNC.items()}
    show(
        f"n={n}, func.grad",
        race({k: lambda g=g: g(x) for k, g in grads.items()}, rounds),
    )
    maps = {k: torch.vmap(torch.func.grad(f)) for k, f in FUNC.items()}
    show(
        f"n={n}, vmap(grad)",
        race({k: lambda g=g: g(x) for k, g in maps.items()}, rounds),
    )


def compiled(n: int, rounds: int) -> None:
    """Inductor, forward and backward."""
    x, seed = torch.rand(n, requires_grad=True), torch.ones(n)
    fast = {k: torch.compile(f, fullgraph=True) for k, f in EAGER.items()}
    jobs = {k: lambda f=f: backward(f, x, seed) for k, f in fast.items()}
    show(f"n={n}, compiled, forward and backward", race(jobs, rounds))


@rc.primitive(host=True)
def cubed(x):
    """A NumPy function that is no ufunc."""
    return x**3


rc.scalar_rule(cubed, lambda y, x: (3 * x**2,))


class HostCubed(torch.autograd.Function):
    """The same by hand."""

    @staticmethod
    def forward(ctx, x):
        """`x³` in NumPy."""
        ctx.save_for_backward(x)
        return torch.from_numpy(cubed.fun(x.detach().numpy()))

    @staticmethod
    def backward(ctx, dy):
        """`3 x² dy`."""
        (x,) = ctx.saved_tensors
        return dy * 3 * x**2


def host(n: int, rounds: int) -> None:
    """Host calls beside NumPy's own, with the conversions."""
    sine = rc.primitive(np.sin, host=True, elementwise=True)
    hypot = rc.primitive(np.hypot, host=True, elementwise=True)
    fun, x, z, seed = cubed.fun, torch.rand(n), torch.rand(n), torch.ones(n)
    leaf = x.clone().requires_grad_()
    calls = {
        "a ufunc": {
            "bare": lambda: torch.from_numpy(np.sin(x.numpy())),
            "primitive": lambda: sine(x),
        },
        "a ufunc of two": {
            "bare": lambda: torch.from_numpy(np.hypot(x.numpy(), z.numpy())),
            "primitive": lambda: hypot(x, z),
        },
        "a function": {
            "bare": lambda: torch.from_numpy(fun(x.numpy())),
            "primitive": lambda: cubed(x),
        },
    }
    for name, jobs in calls.items():
        show(f"n={n}, host call of {name}", race(jobs, rounds))
    both = {"forward(ctx)": HostCubed.apply, "primitive": cubed}
    show(
        f"n={n}, host function, forward",
        race({k: lambda f=f: f(leaf) for k, f in both.items()}, rounds),
    )
    pulled = {k: lambda f=f: backward(f, leaf, seed) for k, f in both.items()}
    show(f"n={n}, host function, forward and backward", race(pulled, rounds))


def across(rounds: int) -> None:
    """Functions of one framework in the other, beside the conversions by DLPack."""
    import jax
    import jax.numpy as jnp

    from rules_jax import from_jax
    from rules_torch import from_torch

    fast = jax.jit(lambda x: jnp.sin(x) * x)
    pull = jax.jit(lambda x, dy: jax.vjp(fast, x)[1](dy)[0])
    there, back = jax.dlpack.from_dlpack, torch.from_dlpack

    def bare(x):
        return back(fast(there(x.detach())).block_until_ready())

    class Bare(torch.autograd.Function):
        """The same by hand, with the derivative compiled."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return bare(x)

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            dx = pull(there(x.detach()), there(dy.detach()))
            return back(dx.block_until_ready())

    x, seed = torch.rand(4), torch.ones(4)
    leaf, made = x.clone().requires_grad_(), from_jax(fast)
    jobs = {"bare": lambda: bare(x), "from_jax": lambda: made(x)}
    show("n=4, JAX function in PyTorch", race(jobs, rounds))
    jobs = {
        "bare": lambda: backward(Bare.apply, leaf, seed),
        "from_jax": lambda: backward(made, leaf, seed),
    }
    show("n=4, JAX function in PyTorch, forward and backward", race(jobs, rounds))

    array, guest = jnp.asarray(x.numpy()), from_torch(native)
    staged = jax.jit(guest)
    shape = jax.ShapeDtypeStruct(array.shape, array.dtype)

    def called(x):
        return native(torch.from_numpy(np.array(x))).numpy()

    calling = jax.jit(lambda x: jax.pure_callback(called, shape, x))
    jobs = {
        "bare": lambda: there(native(back(array))).block_until_ready(),
        "from_torch": lambda: guest(array).block_until_ready(),
    }
    show("n=4, PyTorch function in JAX", race(jobs, rounds))
    jobs = {
        "bare": lambda: calling(array).block_until_ready(),
        "from_torch": lambda: staged(array).block_until_ready(),
    }
    show("n=4, PyTorch function in JAX, jit and pure_callback", race(jobs, rounds))


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--across", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for n in (4, 100_000):
        eager(n, given.rounds)
        transforms(n, given.rounds)
        host(n, given.rounds)
        if given.compiled:
            compiled(n, given.rounds)
    if given.across:
        across(given.rounds)


if __name__ == "__main__":
    main()
