"""What a warm look-up costs, beside a plain dict and multipledispatch's own call.

Run: `.venv/bin/python benchmarks/dispatch.py`. Prints nanoseconds per call (the best of
several rounds) and the ratio to one dict look-up by a tuple of types.
"""

import timeit

from multipledispatch import Dispatcher

import rules_core as rc


class Config(rc.RuleConfig):
    """A configuration for which no rule asks."""


ROUNDS = 7
CALLS = 100_000


def work(x, y):
    """The function with rules; it does next to nothing."""
    return x


def other(x, y):
    """A function without rules."""
    return x


def single(x):
    """A function of one argument."""
    return x


def work_pullback(dy):
    """The same object every time, so that only dispatch is measured."""
    return rc.NoTangent(), dy, rc.NoTangent()


@rc.rrule.define(work)
def work_rrule(x: float, y: float):
    """The rule that the look-up finds."""
    return x, work_pullback


@rc.rrule.define(work)
def work_int_rrule(x: int, y: int):
    """A rule that it does not."""
    return x, work_pullback


@rc.rrule.define(single)
def single_rrule(x: float):
    """A rule of one argument."""
    return x, work_pullback


def nanoseconds(statement: str, scope: dict[str, object]) -> float:
    """Best time of one execution."""
    times = timeit.repeat(statement, globals=scope, repeat=ROUNDS, number=CALLS)
    return min(times) / CALLS * 1e9


def main() -> None:
    """Print the table."""
    dispatcher = Dispatcher("work")
    dispatcher.add((float, float), work_rrule)
    dispatcher.add((int, int), work_int_rrule)
    scope = {
        "table": {(float, float): work_rrule},
        "dispatcher": dispatcher,
        "rule": work_rrule,
        "rrule": rc.rrule,
        "resolve": rc.rrule.resolve,
        "methods": rc.rrule.table(work),
        "work": work,
        "other": other,
        "single": single,
        "one": rc.rrule.table(single),
        "config": Config(),
        "args": (1.0, 2.0),
        "x": 1.0,
        "empty": {},
    }
    rows = {
        "dict look-up by types": "table[tuple(map(type, args))]",
        "rrule.table(f)[types]": "methods[tuple(map(type, args))]",
        "the same, one argument": "one[(type(x),)]",
        "the rule, called directly": "rule(1.0, 2.0)",
        "multipledispatch, called": "dispatcher(1.0, 2.0)",
        "rrule.resolve(f, args, kw)": "resolve(work, args, empty)",
        "rrule(f, x, y)": "rrule(work, 1.0, 2.0)",
        "rrule(f, x)": "rrule(single, 1.0)",
        "rrule(config, f, x, y)": "rrule(config, work, 1.0, 2.0)",
        "rrule(f, x, y), no rule": "rrule(other, 1.0, 2.0)",
    }
    unit = None
    for name, statement in rows.items():
        eval(statement, dict(scope))  # warm every cache
        cost = nanoseconds(statement, scope)
        unit = unit or cost
        print(f"{name:28s} {cost:8.0f} ns {cost / unit:8.2f} x")


if __name__ == "__main__":
    main()
