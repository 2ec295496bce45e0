"""Ten functions of other libraries with rules, beside what authors write by hand.

A rule is written once for all frameworks. By hand it is a `torch.autograd.Function`
with conversions to NumPy, and a `jax.custom_vjp` with `jax.pure_callback`; values and
formulas of the pullback are the same text. Measured are a forward and a backward pass
of eager PyTorch on few numbers, and a jitted gradient in JAX. The variants take turns,
in slices of this process's own time; the best slice counts.

Run it by `python benchmarks/author_functions.py [--rounds N]`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np
import scipy.fft
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special
import torch

import rules_core as rc

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)
RNG = np.random.default_rng(7)

Call = Callable[..., Any]


class Case(NamedTuple):
    """A function, and its pullback with the helpers that it calls.

    `pull(call, xp, y, args, wanted, dy)` has the helpers in `call`. `like` tells which
    argument a result has the shape of, also those of helpers; None is a number.
    """

    name: str
    body: Call
    args: tuple[Any, ...]
    pull: Call
    like: int | None = 0
    helpers: Mapping[str, tuple[Call, int | None]] = MappingProxyType({})


def when(wanted: bool, make: Callable[[], Any]) -> Any:
    """A cotangent that is wanted, or none."""
    return make() if wanted else None


# the functions


def cosines(x):
    """The cosine transform."""
    return scipy.fft.dct(x, norm="ortho")


def inverse_cosines(y):
    """Its transpose."""
    return scipy.fft.idct(y, norm="ortho")


def assigned(costs):
    """The optimal assignment's costs."""
    return costs[scipy.optimize.linear_sum_assignment(costs)].sum()


def plan(costs):
    """The optimal assignment, as a matrix."""
    plan = np.zeros_like(costs)
    plan[scipy.optimize.linear_sum_assignment(costs)] = 1.0
    return plan


def legendre(x):
    """P₅."""
    return scipy.special.eval_legendre(5, x)


def legendre_below(x):
    """P₄."""
    return scipy.special.eval_legendre(4, x)


def pull_legendre(call, xp, y, args, wanted, dy):
    """(1 − x²) P₅' = 5 (P₄ − x P₅)."""
    (x,) = args
    return (5 * (call.below(x) - x * y) / (1 - x * x) * dy,)


def vapour(T):
    """Vapour pressure of water in bar by Antoine's equation, T in kelvin."""
    return 10.0 ** (4.6543 - 1435.264 / (T - 64.848))


def pull_vapour(call, xp, y, args, wanted, dy):
    """Its slope."""
    (T,) = args
    return (dy * y * np.log(10.0) * 1435.264 / (T - 64.848) ** 2,)


def price(spot, rate, sigma):
    """A call option of one year at strike 1, by Black and Scholes."""
    d = (np.log(spot) + rate) / sigma + sigma / 2
    ndtr = scipy.special.ndtr
    return spot * ndtr(d) - np.exp(-rate) * ndtr(d - sigma)


def normal(x):
    """The normal distribution function."""
    return scipy.special.ndtr(x)


def pull_price(call, xp, y, args, wanted, dy):
    """Delta, rho and vega."""
    spot, rate, sigma = args
    d = (xp.log(spot) + rate) / sigma + sigma / 2
    density = xp.exp(-d * d / 2) / np.sqrt(2 * np.pi)
    return (
        when(wanted[0], lambda: dy * call.normal(d)),
        when(wanted[1], lambda: dy * xp.exp(-rate) * call.normal(d - sigma)),
        when(wanted[2], lambda: dy * spot * density),
    )


def solved(A, b):
    """A⁻¹ b."""
    return scipy.linalg.solve(A, b)


def solved_transposed(A, b):
    """A⁻ᵀ b."""
    return scipy.linalg.solve(A, b, transposed=True)


def pull_solved(call, xp, y, args, wanted, dy):
    """A⁻ᵀ dy, and minus its product with y."""
    db = call.transposed(args[0], dy)
    return when(wanted[0], lambda: -db[:, None] * y[None, :]), db


def fitted(A, b):
    """The least squares solution without negative entries."""
    return scipy.optimize.nnls(A, b)[0]


def fitted_adjoint(A, y, dy):
    """The normal equations of the entries that are positive, solved for dy."""
    on = y > 0
    u = np.zeros_like(y)
    u[on] = np.linalg.solve(A[:, on].T @ A[:, on], dy[on])
    return u


def pull_fitted(call, xp, y, args, wanted, dy):
    """The adjoint of the normal equations."""
    A, b = args
    u = call.adjoint(A, y, dy)

    def by_matrix():
        return (b - A @ y)[:, None] * u[None, :] - (A @ u)[:, None] * y[None, :]

    return when(wanted[0], by_matrix), A @ u


def smoothed(x):
    """A recursive filter."""
    return scipy.signal.lfilter([0.2], [1.0, -0.8], x)


def smoothed_back(x):
    """Its transpose: the filter from the end."""
    return scipy.signal.lfilter([0.2], [1.0, -0.8], x[::-1])[::-1].copy()


def exponential(A):
    """The matrix exponential."""
    return scipy.linalg.expm(A)


def exponential_adjoint(A, dy):
    """Its derivative in a direction, at the transpose."""
    return scipy.linalg.expm_frechet(A.T, dy, compute_expm=False)


def anomaly(mean, e):
    """Kepler's equation."""
    E = mean + e * np.sin(mean)
    for _ in range(8):
        E = E - (E - e * np.sin(E) - mean) / (1 - e * np.cos(E))
    return E


def pull_anomaly(call, xp, y, args, wanted, dy):
    """The implicit function theorem."""
    slope = dy / (1 - args[1] * xp.cos(y))
    return slope, when(wanted[1], lambda: slope * xp.sin(y))


N = 8
MATRIX = RNG.normal(size=(N, N)) / 4 + 2 * np.eye(N)
CASES = [
    Case(
        "dct",
        cosines,
        (RNG.normal(size=N),),
        lambda call, xp, y, args, wanted, dy: (call.inverse(dy),),
        helpers={"inverse": (inverse_cosines, 0)},
    ),
    Case(
        "linear_sum_assignment",
        assigned,
        (RNG.uniform(size=(N, N)),),
        lambda call, xp, y, args, wanted, dy: (dy * call.plan(args[0]),),
        like=None,
        helpers={"plan": (plan, 0)},
    ),
    Case(
        "eval_legendre",
        legendre,
        (RNG.uniform(-0.9, 0.9, N),),
        pull_legendre,
        helpers={"below": (legendre_below, 0)},
    ),
    Case("vapour pressure", vapour, (RNG.uniform(300.0, 400.0, N),), pull_vapour),
    Case(
        "option price",
        price,
        tuple(RNG.uniform(*ends, N) for ends in ((0.8, 1.2), (0.0, 0.1), (0.1, 0.4))),
        pull_price,
        helpers={"normal": (normal, 0)},
    ),
    Case(
        "linalg.solve",
        solved,
        (MATRIX, RNG.normal(size=N)),
        pull_solved,
        like=1,
        helpers={"transposed": (solved_transposed, 1)},
    ),
    Case(
        "nnls",
        fitted,
        (MATRIX, RNG.normal(size=N)),
        pull_fitted,
        like=1,
        helpers={"adjoint": (fitted_adjoint, 1)},
    ),
    Case(
        "lfilter",
        smoothed,
        (RNG.normal(size=N),),
        lambda call, xp, y, args, wanted, dy: (call.back(dy),),
        helpers={"back": (smoothed_back, 0)},
    ),
    Case(
        "expm",
        exponential,
        (MATRIX,),
        lambda call, xp, y, args, wanted, dy: (call.adjoint(args[0], dy),),
        helpers={"adjoint": (exponential_adjoint, 0)},
    ),
    Case(
        "Kepler's equation",
        anomaly,
        (RNG.uniform(0.0, 3.0, N), RNG.uniform(0.1, 0.5, N)),
        pull_anomaly,
    ),
]  # fmt: skip


# a rule, and the same by hand


def namespace(functions: dict[str, Call]) -> ModuleType:
    """Functions in a module of their own, as authors have them."""
    module = ModuleType("helpers")
    vars(module).update(functions)
    return module


def by_rule(case: Case) -> Any:
    """The function as a primitive with an rrule."""

    def host(f: Call, like: int | None) -> Any:
        def shape(*args):
            given = () if like is None else args[like].shape
            return rc.ShapeDtype(given, args[0].dtype)

        return rc.primitive(f, host=True, out=shape)

    body = host(case.body, case.like)
    call = namespace({name: host(*helper) for name, helper in case.helpers.items()})
    pull = case.pull

    @rc.rrule.define(body)
    def rule(*args, needs):
        xp = rc.array_namespace(*args)
        y = body(*args)

        def pullback(dy):
            found = pull(call, xp, y, args, needs, dy)
            return rc.NoTangent(), *(
                rc.ZeroTangent() if d is None else d for d in found
            )

        return y, pullback

    return body


def in_torch(f: Call) -> Call:
    """A NumPy function of tensors, by hand."""

    def call(*args):
        return torch.from_numpy(np.asarray(f(*(x.detach().numpy() for x in args))))

    return call


def by_function(case: Case) -> Any:
    """A `torch.autograd.Function` by hand."""
    body = in_torch(case.body)
    helpers = namespace({name: in_torch(f) for name, (f, _) in case.helpers.items()})

    class ByHand(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            y = body(*args)
            ctx.save_for_backward(*args, y)
            return y

        @staticmethod
        def backward(ctx, dy):
            *args, y = ctx.saved_tensors
            return case.pull(helpers, torch, y, args, ctx.needs_input_grad, dy)

    return ByHand.apply


def in_jax(f: Call, like: int | None) -> Call:
    """A NumPy function of JAX's arrays, by hand."""

    def run(*args):
        return np.asarray(f(*map(np.asarray, args)))

    def call(*args):
        shape = () if like is None else args[like].shape
        return jax.pure_callback(run, jax.ShapeDtypeStruct(shape, args[0].dtype), *args)

    return call


def by_custom_vjp(case: Case) -> Any:
    """A `jax.custom_vjp` by hand."""
    body = in_jax(case.body, case.like)
    helpers = namespace({name: in_jax(*x) for name, x in case.helpers.items()})
    f = jax.custom_vjp(body)

    def forward(*args):
        y = body(*args)
        return y, (args, y)

    def backward(kept, dy):
        args, y = kept
        wanted = (True,) * len(args)
        return case.pull(helpers, jax.numpy, y, args, wanted, dy)

    f.defvjp(forward, backward)
    return f


# measurement


def race(jobs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Best microseconds per call of each job; the jobs take turns."""
    best = dict.fromkeys(jobs, float("inf"))
    order = list(jobs)
    turns = random.Random(0)
    for job in jobs.values():
        slice_of(job)
    for _ in range(rounds):
        turns.shuffle(order)
        for name in order:
            best[name] = min(best[name], slice_of(jobs[name]))
    return best


def slice_of(job: Callable[[], Any], count: int = 10) -> float:
    """Microseconds of processor time of a call."""
    start = time.process_time()
    for _ in range(count):
        job()
    return (time.process_time() - start) / count * 1e6


def torch_job(f: Any, case: Case) -> Callable[[], Any]:
    """A forward and a backward pass."""
    leaves = [torch.tensor(x, requires_grad=True) for x in case.args]
    seed = torch.ones_like(f(*leaves))

    def job() -> Any:
        return torch.autograd.grad(f(*leaves), leaves, seed)

    return job


def jax_job(f: Any, case: Case) -> Callable[[], Any]:
    """A jitted gradient in every argument."""
    every = tuple(range(len(case.args)))
    gradient = jax.jit(jax.grad(lambda *args: f(*args).sum(), every))
    args = tuple(map(jax.numpy.asarray, case.args))
    return lambda: jax.block_until_ready(gradient(*args))


def agree(one: Any, other: Any) -> None:
    """Both variants give the same cotangents."""
    for a, b in zip(one(), other(), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-9, atol=1e-12)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    titles = ("function", *("µs by hand", "rule", "ratio") * 2)
    print("| " + " | ".join(titles) + " |  (PyTorch, then JAX)")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        rule = by_rule(case)
        eager = {
            "hand": torch_job(by_function(case), case),
            "rule": torch_job(rule, case),
        }
        jitted = {
            "hand": jax_job(by_custom_vjp(case), case),
            "rule": jax_job(rule, case),
        }
        cells = [case.name]
        for jobs in (eager, jitted):
            agree(jobs["hand"], jobs["rule"])
            best = race(jobs, rounds)
            hand, own = best["hand"], best["rule"]
            cells += [f"{hand:.0f}", f"{own:.0f}", f"{own / hand:.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
