"""One measurement of `engine.py`, in a process of its own.

Each system is a function of a case and its arguments that gives a function without
arguments: the gradient by the first argument.
"""

import contextlib
import gc
import json
import os
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from engine_mooncake import THIRTEEN
from engine_programs import NINE, Case

Call = Callable[[], Any]

SECONDS = 0.15  # of each measurement
TURNS = 4
BATCH = 0.0005  # seconds that are measured at once, at least
CASES = {**NINE, **THIRTEEN}


def primal(case: Case, args: Any) -> Call:
    f = case.build(np)
    return lambda: f(*args)


def hand(case: Case, args: Any) -> Call:
    return lambda: case.hand(*args)


def engine(case: Case, args: Any) -> Call:
    import rules_autodiff

    gradient = rules_autodiff.grad(case.build(np))
    return lambda: gradient(*args)


def written(case: Case, args: Any) -> Call:
    """The engine from its second call on, which writes straight-line code."""
    call = engine(case, args)
    call()
    return call


def tape(case: Case, args: Any) -> Call:
    """The engine without straight-line code."""
    import rules_autodiff

    gradient = rules_autodiff.grad(case.build(np), tier="tape")
    return lambda: gradient(*args)


def autograd(case: Case, args: Any) -> Call:
    import autograd
    import autograd.numpy

    gradient = autograd.grad(without_writes(case)(autograd.numpy))
    return lambda: gradient(*args)


def torch(case: Case, args: Any) -> Call:
    """Eager PyTorch on one thread."""
    import torch

    torch.set_num_threads(1)
    f = without_writes(case)(torch)
    moved = [torch.tensor(a, dtype=torch.float64) for a in args]

    def gradient() -> Any:
        x = moved[0].detach().requires_grad_()
        f(x, *moved[1:]).backward()
        return x.grad

    return gradient


def jax(case: Case, args: Any) -> Call:
    """Compiled JAX in double precision, on one thread."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = flags
    import jax

    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.grad(without_writes(case)(jax.numpy)))
    moved = jax.tree.map(jax.numpy.asarray, args)
    return lambda: jax.block_until_ready(compiled(*moved))


def without_writes(case: Case) -> Callable[..., Any]:
    return case.functional or case.build


SYSTEMS = {
    f.__name__: f for f in (primal, hand, engine, tape, written, autograd, torch, jax)
}


def best_time(call: Call) -> float:
    """Processor seconds of a call, the least of several; the first ones warm up.

    Small calls are taken by the dozen. Waiting for a busy machine does not count.
    """
    call()
    number = max(1, int(BATCH / seconds(call, 1)))
    best, spent = float("inf"), 0.0
    while spent < SECONDS:
        taken = seconds(call, number)
        best, spent = min(best, taken / number), spent + taken
    return best


def seconds(call: Call, number: int) -> float:
    before = time.process_time()
    for _ in range(number):
        call()
    return time.process_time() - before


def first_time(call: Call) -> float:
    """Seconds that the first call takes longer than later ones."""
    first = seconds(call, 1)
    call()
    return first - best_time(call)


WARMING = ("100 scalar operations", "sum of sines, loop", "MLP 32", "Gaussian process")


def warm_up(name: str) -> None:
    """Import what first calls import, and read the files of the programs."""
    for other in WARMING:
        if other != name:
            case = CASES[other]
            call = engine(case, case.make())
            for _ in range(3):
                call()
    gc.collect()
    gc.freeze()  # or a collection of all that was imported falls into a first call


def peak_memory(call: Call) -> float:
    """Bytes that a call allocates at most, beside what was there."""
    call()
    tracemalloc.start()
    call()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    call()
    return float(tracemalloc.get_traced_memory()[1] - before)


KINDS = {"time": best_time, "first": first_time, "memory": peak_memory}


def measure(kind: str, name: str, systems: str) -> None:
    """Print the figures of systems (their names joined by commas) as JSON.

    Times are taken in turns, so that a busy machine slows all systems alike.
    """
    case, calls = CASES[name], {}
    if kind == "first":
        warm_up(name)
    for system in systems.split(","):
        with contextlib.suppress(Exception):  # a system that cannot do a case
            call = SYSTEMS[system](case, case.make())
            if kind == "time":
                call()
            calls[system] = call
    best: dict[str, float] = {}
    for _ in range(TURNS if kind == "time" else 1):
        for system, call in calls.items():
            best[system] = min(KINDS[kind](call), best.get(system, float("inf")))
    print(json.dumps(best))
