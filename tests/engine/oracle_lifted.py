"""The lifted program is the program: calls compared with themselves in derivatives.

Each program says of the result of one call what a program can ask: its class, dtype,
shape, strides and flags, which arguments it is, and with which ones it shares memory.
Its values are compared bit for bit, and those of the arguments after the call. What is
the case plainly must be the case in reverse and forward mode, or there must be an error
of ours; and the two modes must agree about the derivative, wherever arrays lie. What a
call raises must have the class and the text that it has plainly.
"""

import linecache
import re
import warnings
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from rules_autodiff import Const, jvp, vjp
from rules_autodiff._python.values import is_float_array
from rules_core import AbstractTangent
from tests.engine.lifted_calls import GIVEN, INSIDE, SCOPE, WORLDS

__all__ = ["LAYOUTS", "differences", "straight_differences"]

LAYOUTS = (*GIVEN, *INSIDE)
REFUSED, RAISED, RETURNED = "refused", "raised", "returned"


# the programs


def facts(r: Any, known: Any) -> Any:
    """What a program can ask of a result without reading its values."""
    found: dict[str, Any] = {"class": type(r).__name__}
    if isinstance(r, (tuple, list)):
        found["parts"] = [facts(part, known) for part in r]
    if isinstance(r, np.ndarray):
        found["is"] = [r is a for a in known]
        found["dtype"], found["shape"] = r.dtype.char, r.shape
        found["steps"] = [
            n for n, k in zip(r.strides, r.shape, strict=True) if k > 1 and r.size
        ]
        found["C"], found["F"] = r.flags.c_contiguous, r.flags.f_contiguous
        found["writeable"] = r.flags.writeable
        found["shares"] = [
            isinstance(a, np.ndarray) and np.shares_memory(r, a) for a in known
        ]
    return found


MEMORY = ("steps", "C", "F", "writeable")
NUMBERS = count()


@cache
def program_of(text: str, *, alone: bool = False) -> Any:
    """A program with one call, whose source the engine can read."""
    lines = [
        "def program(make, a, b):\n",
        "    x, y = make(a), make(b)\n",
        f"    r = {text}\n",
        "    return r, facts(r, (x, y))\n",
    ]
    if alone:
        lines = ["def program(x, y):\n", f"    return {text}\n"]
    name = f"<lifted {next(NUMBERS)}>"
    linecache.cache[name] = (len("".join(lines)), None, lines, name)
    scope = {**SCOPE, "facts": facts, "__name__": __name__}
    exec(compile("".join(lines), name, "exec"), scope)
    return scope["program"]


def as_given(a: Any) -> Any:
    return a


def inputs(world: str, layout: str) -> tuple[Any, Any, Any]:
    """How the program makes its arrays, and of what."""
    a, b = WORLDS[world]
    if layout in INSIDE:
        return INSIDE[layout], a.copy(), b.copy()
    return as_given, GIVEN[layout](a), GIVEN[layout](b)


def direction(x: Any) -> Any:
    """A tangent of no special kind."""
    if not isinstance(x, np.ndarray):
        return type(x)(0.7)
    return np.cos(np.arange(x.size) * 1.7).reshape(x.shape).astype(x.dtype)


# how they are run


def plainly(program: Any, make: Any, a: Any, b: Any) -> Any:
    return program(make, a, b), None


def reverse(program: Any, make: Any, a: Any, b: Any) -> Any:
    value, pullback, asked = vjp(program, Const(make), a, b, has_aux=True, tier="tape")
    return (value, asked), pullback


def forward(program: Any, make: Any, a: Any, b: Any) -> Any:
    tangents = None, direction(a), direction(b)
    value, dy, asked = jvp(program, (make, a, b), tangents, has_aux=True)
    return (value, asked), dy


MODES = (reverse, forward)


def tried(run: Any, program: Any, world: str, layout: str) -> tuple[Any, ...]:
    """What came of a program: values, facts and arguments, or an error."""
    make, a, b = inputs(world, layout)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            (value, asked), more = run(program, make, a, b)
        except Exception as error:
            kind = REFUSED if is_ours(error) else RAISED
            return kind, type(error).__name__, error
    return RETURNED, (bits(value), asked, bits([a, b])), (value, more)


def is_ours(error: Exception) -> bool:
    """Whether an error is one of our classes, or of Python's in our words."""
    if type(error).__module__.startswith("rules_"):
        return True
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    name = place.tb_frame.f_code.co_filename if place else ""
    return any(f"/{pack}/" in name for pack in ("rules_numpy", "rules_core"))


def bits(x: Any) -> Any:
    """Values, to be compared bit for bit; one NaN is as good as another."""
    if isinstance(x, tuple | list):
        return [bits(part) for part in x]
    if isinstance(x, np.ndarray | np.generic | float | complex):
        numbers = np.array(x)
        if numbers.dtype.kind in "fc":
            numbers[np.isnan(numbers)] = np.nan
        return numbers.dtype.char, numbers.shape, numbers.tobytes()
    return type(x).__name__


# what is compared


def differences(text: str, world: str, layout: str) -> list[str]:
    """How a call differs from itself in reverse and forward mode."""
    program = program_of(text)
    plain = tried(plainly, program, world, layout)
    runs = {mode.__name__: tried(mode, program, world, layout) for mode in MODES}
    found = []
    for name, other in runs.items():
        found += [f"{name}: {what}" for what in compared(plain, other, layout)]
    if not found and all(run[0] == RETURNED for run in runs.values()):
        found += disagreement(runs, inputs(world, layout)[1:])
    return found


def compared(plain: Any, other: Any, layout: str) -> list[str]:
    """How an outcome differs; an error of ours says that there is none."""
    if other[0] == REFUSED:
        return []
    if plain[0] == RETURNED == other[0]:
        (value, asked, state), (its_value, its_asked, its_state) = plain[1], other[1]
        stretched = layout == "broadcast"
        pairs = {
            "values": (value, its_value),
            "facts": (told(asked, stretched), told(its_asked, stretched, asked)),
            "arguments": (state, its_state),
        }
        return [f"{k}: {changed(p, q)}" for k, (p, q) in pairs.items() if p != q]
    if plain[0] == other[0] == RAISED and complaint(plain) == complaint(other):
        return []
    return [" but ".join(f"{one[0]} {one[2]!r:.200}" for one in (plain, other))]


# Errors whose texts, like those about shapes, say which of several ways NumPy went.
LOOSE = ("AttributeError", "IndexError")


def complaint(outcome: Any) -> tuple[str, str]:
    """The class of an error and its text, without what NumPy calls an array in it."""
    _, name, error = outcome
    text = re.sub(r".*(is read-only)$|(operation )\w+", r"\1\2", str(error))
    shapes = re.search("broadcast|mismatch|array element|ufunc '.*' not sup", text)
    return name, "" if shapes or name in LOOSE else text


def told(asked: Any, stretched: bool, plainly_asked: Any = None) -> Any:
    """Facts without those of the memory of results whose entries share memory.

    In a derivative each entry is a variable of its own: such an array is copied when
    it is an argument, or comes from a rule.
    """
    like = asked if plainly_asked is None else plainly_asked
    apart = stretched or 0 in like.get("steps", ())
    left_out = (*MEMORY, "is", "shares") if apart else ()
    found = {k: v for k, v in asked.items() if k not in (*left_out, "parts")}
    parts, models = asked.get("parts", ()), like.get("parts", ())
    if len(parts) != len(models):
        return found
    found["parts"] = [told(p, stretched, q) for p, q in zip(parts, models, strict=True)]
    return found


def changed(p: Any, q: Any) -> str:
    """Where two nested values differ."""
    if isinstance(p, dict) and p.keys() == q.keys():
        return "; ".join(f"{k} {changed(p[k], q[k])}" for k in p if p[k] != q[k])
    rows = isinstance(p, list | tuple) and isinstance(q, list | tuple)
    if rows and len(p) == len(q):
        return "; ".join(changed(a, b) for a, b in zip(p, q, strict=True) if a != b)
    return f"{p!r:.150} but {q!r:.150}"


def disagreement(runs: Any, args: Any) -> list[str]:
    """Whether the pullback is not the adjoint of the pushforward."""
    (value, pullback), (_, dy) = runs["reverse"][2], runs["forward"][2]
    real = is_float_array(value) or isinstance(value, float)
    if not real or np.iscomplexobj(value) or isinstance(dy, AbstractTangent):
        return []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        w = direction(value)
        try:
            _, *found = pullback(w)
        except Exception as error:
            return [] if is_ours(error) else [f"pullback: {error!r}"]
        terms = [paired(ct, direction(x)) for ct, x in zip(found, args, strict=True)]
        gap, along = np.abs(sum(terms) - np.sum(w * dy)), np.sum(np.abs(w * dy))
    single = any(np.asarray(x).dtype.char in "fF" for x in (value, *args))
    if not gap > (1e-4 if single else 1e-9) * (1.0 + along + sum(map(abs, terms))):
        return []
    return [f"derivative: off by {gap}"]


def paired(ct: Any, dx: Any) -> Any:
    """The inner product of a cotangent and a tangent."""
    if isinstance(ct, AbstractTangent):
        return 0.0
    return np.sum(np.real(np.conjugate(ct) * dx))


# written code


def straight_differences(text: str, world: str, layout: str) -> list[str] | None:
    """How a call differs in written code; None where there is none for it."""
    program = program_of(text, alone=True)
    _, a, b = inputs(world, layout)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found, _ = vjp(program, a, b, tier="straight")
        except Exception:  # left to the tape, which `differences` looks at
            return None
        expected = program(*inputs(world, layout)[1:])
    pairs = {
        "values": (bits(expected), bits(found)),
        "class": (type(expected), type(found)),
        "arguments": (bits(list(inputs(world, layout)[1:])), bits([a, b])),
    }
    return [f"straight: {k}: {changed(p, q)}" for k, (p, q) in pairs.items() if p != q]
