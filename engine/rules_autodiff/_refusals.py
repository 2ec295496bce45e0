"""Errors that name the function and the line of the user's program."""

import sys
from typing import Any, NoReturn

from rules_autodiff._python.errors import EngineError, UnsupportedProgram
from rules_autodiff._python.lifted_code import is_lifted_code
from rules_autodiff._python.opaque import LIFTED_STANDARD, OWN, is_opaque_module
from rules_core import (
    AbstractThunk,
    AbstractZero,
    ProjectionError,
    StructuralTangent,
    explain,
    refuse_no_tangent,
    structure,
    warn_if_skipped,
)
from rules_core.extend import entries_of, whole_numbers

__all__ = [
    "LIFTED",
    "asked_of",
    "check_whole",
    "code_and_line",
    "keyword_error",
    "name_cotangent",
    "name_of",
    "no_rule_error",
    "refuse",
    "refuse_no_cotangent",
    "refused",
    "rule_of",
    "tell_skipped",
    "where",
]


CONTAINERS = (StructuralTangent, tuple, list, dict)
LIFTED = "_factory.<locals>._ad_function.<locals>."  # before names in lifted code

Place = tuple[Any, int] | None  # the code of a program, and a line of it


def where() -> str:
    """The place in the user's program that is being differentiated."""
    return worded(code_and_line())


def worded(place: Place) -> str:
    """A place as error text."""
    if place is None:
        return "called from outside of any differentiated function"
    return f"{place[0].co_filename}, line {place[1]}"


def code_and_line() -> Place:
    """Code object and line, not yet formatted: most are never shown."""
    frame: Any = sys._getframe(1)  # noqa: SLF001  (no other way to the frames)
    place: Place = None
    while frame is not None:
        if is_lifted_code(frame.f_code):
            place = frame.f_code, frame.f_lineno
            if not is_standard(frame):
                return place
        frame = frame.f_back
    return place


def is_standard(frame: Any) -> bool:
    """Whether a frame runs lifted code of the standard library, or of ours."""
    name = str(frame.f_globals.get("__name__", ""))
    root = name.partition(".")[0]
    return is_opaque_module(name) or root in LIFTED_STANDARD or root in OWN


def name_of(f: Any) -> str:
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    owner = getattr(f, "__self__", None)
    if module is None and owner is not None and not isinstance(owner, type(sys)):
        module = type(owner).__module__
    name = str(name).removeprefix(LIFTED)
    return f"{module}.{name}" if module and module != "builtins" else name


def no_rule_error(f: Any, kind: str) -> EngineError:
    """The error for a function that has neither a rule nor source."""
    name = name_of(f)
    text = (
        f"{name} ({where()}) must have a rule to be differentiated: the engine does "
        "not look into it, but it was called with a value that carries a derivative "
        f"and no {kind} for these arguments is known. Define one with "
        f"@rules_core.{kind}.define({name.rpartition('.')[2]}), install the rule pack "
        f"of its library, or, if it has no derivative, declare "
        f"rules_core.non_differentiable({name.rpartition('.')[2]})."
    )
    return UnsupportedProgram(text)


def rule_of(rule: Any) -> str:
    """The rule that answers a call, as text after the function's name."""
    return f" ({rule.kind} {rule.name}, {rule.file}:{rule.line})" if rule else ""


def asked_of(call: Any, place: int | None = None) -> str:
    """The derivative that a rule should give, as text; `place` counts the function."""
    rule = call.rule
    by = f"asked of the {rule.kind} {rule.name} ({rule.file}:{rule.line})"
    if place is None:
        return by
    own = place - (not call.bound)
    return f"{by} for {f'argument {own}' if own >= 0 else 'the function itself'}"


def name_cotangent(call: Any, place: int) -> str:
    """The argument whose cotangent a rule gives, and the rule, as text."""
    own = place - (not call.bound)
    what = "the function itself" if own < 0 else f"argument {own}"
    return f"{what} ({call.rule.label})"


def keyword_error(f: Any, name: str) -> EngineError:
    """The error for a needed derivative of a keyword-only argument."""
    return UnsupportedProgram(
        f"The keyword-only argument {name!r} of {name_of(f)} ({where()}) must carry no "
        "derivative, because rules give none for it, but it does. Pass "
        f"stop_gradient({name}), or a value that does not depend on the arguments."
    )


def note_place(error: BaseException, f: Any, place: Place = None) -> None:
    """Add a note to an error with the rule's function and the user's line."""
    if not any(NOTED in note for note in getattr(error, "__notes__", ())):
        place = place or code_and_line()
        told = f"called at {worded(place)}" if place else worded(place)
        error.add_note(f"{NOTED} {name_of(f)}, {told}.")


def note_operation(error: BaseException, what: str) -> None:
    """Add a note to an error of a derivative without a rule that an author wrote."""
    if not any(NOTED_HERE in note for note in getattr(error, "__notes__", ())):
        error.add_note(f"{NOTED_HERE} {what} was computed, {where()}.")


def note_unfit(error: Exception, f: Any, args: Any, kwargs: Any, run: Any) -> None:
    """Add a note to an error with the rules of `f` that do not match, and why."""
    if run.mutating.has(f):
        error.add_note(run.mutating.skipped_text(f, args, kwargs))
    if not run.has_rules(f) or run.opted_out(f, args):
        return
    what = explain(f, *args, **kwargs)
    error.add_note(
        f"No rule of {name_of(f)} fits this call, so the engine went on to its body:\n"
        f"{what}"
    )


NOTED = "While a rule answered"
NOTED_HERE = "While the derivative"

REFUSALS = {
    "frozen": (
        "A function that numba compiled must be what its source is now, but {}",
        "Call its recompile(), or make arguments of what it reads.",
    ),
    "set": (
        "A set must hold constants, but an entry carries a derivative",
        "Sets drop what is equal: use a list or a dict.",
    ),
    "objects": (
        "A value that carries a derivative must not be written into an array of "
        "objects, but is",
        "Use an array of floats, or a list.",
    ),
    "dtype": (
        "A value that carries a derivative must be written into a floating array, but "
        "the dtype is {}, which would cut it off",
        "Make the array with dtype=float.",
    ),
    "overlapping": (
        "An array must not share memory with itself to be written to, but this view "
        "does",
        "Write into a copy.",
    ),
    "unbuffered": (
        "An array must be copied onto itself without overlap, but NumPy does not "
        "buffer this assignment, so its result is undefined",
        "Copy the right-hand side first: dest[i] = value.copy().",
    ),
    "reinterpreted": (
        "An array that carries a derivative must be viewed as what it is, but is "
        "reinterpreted by a view of another dtype",
        "Use .astype to convert the values.",
    ),
    "sparse": (
        "A sparse matrix must hold constants, but its numbers carry a derivative",
        "Use a dense array, or write a rule for the function that makes and uses the "
        "matrix.",
    ),
    "container": (
        "A value that carries a derivative must not be put into an object of class {}, "
        "but is",
        "Use a list, a dict or an array.",
    ),
    "pattern": (
        "A class pattern must match plain attributes, but {} is a property",
        "Match the object and read the attribute in the case's body.",
    ),
    "resized": (
        "An array that carries a derivative must keep its memory, but is resized in "
        "place",
        "Use np.resize, which makes a new one.",
    ),
    "text": (
        "A number that was written to a text or a file with its derivative must not be "
        "read back, but {} is: a text holds no derivative",
        "Keep the number itself, or write stop_gradient(x) if it is meant as a "
        "constant.",
    ),
    "bytes": (
        "The bytes of a value that carries a derivative must be used as a key or be "
        "written, but whole numbers are read from them",
        "Use the number itself.",
    ),
    "base": (
        "The base of an argument must not be read, because it is memory of which the "
        "program's derivative covers a part",
        "Pass the whole array, and take the view inside the function.",
    ),
    "ignored": (
        "A function in ignore_derivatives must use and keep constants, but {}",
        "Let it capture the value itself, or use stop_gradient(value) inside.",
    ),
    "digits": (
        "A value that carries a derivative must stay one number, but as_integer_ratio "
        "takes it apart",
        "Use the number itself.",
    ),
    "whole": (
        "A value that carries a derivative must not be kept as a whole number, but {} "
        "of one beyond 2**52 keeps all of its digits",
        "Use the number itself: libraries with numbers of their own, as mpmath, need a "
        "rule. Take stop_gradient(x) if it is meant as a constant.",
    ),
    "exported": (
        "The memory of an array that carries a derivative must be reached by arrays "
        "alone, but a buffer, an iterator or another array over the same memory was "
        "made ({})",
        "Use views of the one array, or copies.",
    ),
    "subclass": (
        "An array that carries a derivative must be a plain numpy.ndarray, but is a "
        "{}, whose class gives operations another meaning",
        "Convert it by numpy.asarray.",
    ),
    "structured": (
        "A value that carries a derivative must be written to and read from a field of "
        "a structured array, but the record itself is used",
        "Write a['field'][i] in place of a[i]['field'] or a[i].",
    ),
    "truncated": (
        "The values of {}, which carry a derivative, must be floating numbers, but "
        "dtype {} was asked for, which would cut it off",
        "Ask for dtype=float; .astype(int) says that the derivative is to be zero.",
    ),
    "memo": (
        "A dict must be asked by a value that carries a derivative only for what was "
        "stored in the same call by d[key] = value, but the entry found is a constant "
        "of another call, or was stored in another way",
        "Use functools.cache, or leave the cache out; ask a table of constants by a "
        "key made of stop_gradient(x).",
    ),
    "skipped": (
        "A result must be computed from the arguments, but {!r} is read, whose update "
        "was skipped by a test of nearly equal arguments, as a cache does",
        "Compute it anew, or use functools.cache, which is the run's own, or empty the "
        "cache before the derivative; stop_gradient(x) in the test if the value is "
        "meant as a constant.",
    ),
    "cached": (
        "A result must be computed from the arguments, but a constant was taken for "
        "{}, which equals what the program already had, as a cache does",
        "Compute it anew or use functools.cache, which is the run's own; compare "
        "stop_gradient(x) for a mask or a count; a branch that is meant to be constant "
        "may return c + 0.0 * x.",
    ),
    "finalizer": (
        "An object that is given a value with a derivative must have no effects when "
        "it is freed, but {}.__del__ may, and is called unlifted",
        "Use a with statement.",
    ),
    "frame": (
        "The variables of a differentiated function cannot be read from a frame, whose "
        "f_locals are those of the code that the engine wrote for it",
        "Pass the values as arguments.",
    ),
    "grid": (
        "The bounds of numpy.mgrid and numpy.ogrid must carry no derivative",
        "Use np.linspace, or np.arange with a step, and np.meshgrid.",
    ),
    "chunks": (
        "With chunk_size a function is run several times and must do the same each "
        "time, but {} gave another value",
        "Leave chunk_size out, or give the function a state and a seed of its own.",
    ),
    "watched": (
        "A function must return one value each time where a zero tangent meets an "
        "infinite derivative, for it is run once more there, but {} gave another value",
        "Draw its random numbers outside, and give it a state of its own.",
    ),
    "asked": (
        "An object that NumPy makes an array or a number of must be asked without "
        "effect, but {} changes something each time, and NumPy asks as it likes",
        "Give NumPy float(x), or an array made of the items.",
    ),
    "object kept": (
        "An object that carries a derivative must be asked for its number by NumPy, "
        "but without a dtype NumPy puts the {} itself into an array of objects",
        "Give NumPy float(x), or set dtype=float.",
    ),
    "hashed": (
        "The methods of a key of a dict or a set must have no effects, but {} may "
        "change something, and is called unlifted",
        "Change it elsewhere, or use a list.",
    ),
    "attribute": (
        "A value that carries a derivative must be stored as the object that it is, "
        "but the attribute {}.{} keeps a copy",
        "Use an attribute of a class written in Python.",
    ),
    "operand": (
        "The operands of an array must be numbers and arrays where they carry a "
        "derivative, but one is a {}",
        "Convert it by numpy.asarray, or give its class __array__ or __array_ufunc__.",
    ),
    "own method": (
        "NumPy must be given numbers and arrays where they carry a derivative, but a "
        "{} may answer the function by its own {}",
        "Call the method itself, or give NumPy an array.",
    ),
    "number class": (
        "A number that carries a derivative must be a float or a NumPy scalar, but is "
        "made a {}, whose class gives operations another meaning",
        "Hold the number in an attribute of a class of your own.",
    ),
    "generator": (
        "A generator that was started outside of the differentiated function must "
        "work on constants, but {} holds or is sent a value that carries a derivative",
        "Start the generator inside of the function.",
    ),
    "reshaped": (
        "An array that carries a derivative must keep its form if it is an argument, "
        "or a derivative of the derivative is taken, but its attribute {} is set",
        "Use .reshape, .astype or a view.",
    ),
    "taken apart": (
        "A function that was defined inside of a differentiated one must be called, "
        "but its {} is read",
        "Define it outside.",
    ),
    "drawn": (
        "The parameters of a random number must carry no derivative, because the rule "
        "of a draw is not to have one, but those of {} do",
        "Draw with constant parameters and scale: mean + scale * rng.normal().",
    ),
    "unseen": (
        "The function {} must not write to arrays that are unknown to the engine, "
        "but an array of shape {} has changed",
        "Define @rrule_mutating and @frule_mutating for it.",
    ),
    "callback": (
        "A function that a rule calls must capture what it reads of values that carry "
        "a derivative, or be given it, but {} reads such a value as a global, as a "
        "default or as an attribute of a class",
        "Pass it as an argument, or bind it to a local variable beside the function.",
    ),
    "read outside": (
        "A function with rules must get what carries a derivative as an argument, but "
        "{}{} reads such a value as {}, for which no rule gives a derivative",
        "Pass it as an argument that the rules know, or store stop_gradient(value) "
        "there if it is meant as a constant.",
    ),
    "read later": (
        "A function that is an argument of a rule must read at the pullback what it "
        "read at the value, but what {}{} is given reads {}, which was changed",
        "Pass that value to the function as an argument, or capture it in a closure.",
    ),
    "rule reads later": (
        "A rule must read at the pullback what it read at the value, but that of {}{} "
        "reads {}, which was changed since",
        "Let the rule read it before it returns the pullback, pass it as an argument, "
        "or change it after the pullback has run.",
    ),
    "captured unread": (
        "A function that captures a value with a derivative must have an frule that "
        "reads its tangent, tangents[0], but that of {}{} does not",
        "Pass the value as an argument of the function and of its rules, or capture "
        "stop_gradient(value) if it is meant as a constant.",
    ),
    "apart": (
        "A function that a solver calls must take a value with a derivative as an "
        "argument or capture it, but {} reads one from an iterator, a global, or an "
        "attribute of a function or a class",
        "Pass the value by args=, or capture the number or array, itself or as an "
        "attribute of an instance.",
    ),
    "written apart": (
        "A function that a solver calls must not write to its arguments, to what it "
        "captures, or to globals, but {} does: what it writes has no derivative",
        "Let it write into copies, and compute such values outside.",
    ),
    "concealed": (
        "A value that carries a derivative must be an argument, or an entry of a list, "
        "a dict or an instance, but argument {} of {}{}, a {}, holds one that has no "
        "tangent",
        "Pass list(...) of an iterator or view, or the value itself.",
    ),
    "lanes": (
        "The arguments of {}, whose mutating rule {} is run once for each tangent, "
        "must be arrays and numbers in jacfwd, and in jvp where a zero tangent meets "
        "an infinite derivative, but one holds others",
        "Use jvp for each direction, or jacrev.",
    ),
    "impure": (
        "The function {} must give the same value each time, because its rule is run "
        "once for each tangent in jacfwd, but gave two that differ",
        "Use jvp for each direction, or jacrev.",
    ),
}


def refused(key: str, *details: Any) -> NoReturn:
    """Raise the error of a given name."""
    what, cure = REFUSALS[key]
    raise refuse(what.format(*details), cure)


def refuse(what: str, cure: str) -> EngineError:
    """The error for an unsupported operation."""
    return UnsupportedProgram(f"{what} ({where()}). {cure}")


def tell_skipped(run: Any, f: Any, args: Any, kwargs: Any) -> None:
    """Warn that rules of `f` are skipped, if an active value goes into the call."""
    mutating = run.mutating.has(f)
    if (mutating or run.has_rules(f)) and run.is_active((args, kwargs)):
        if mutating:
            run.mutating.warn_if_skipped(f, args, kwargs, debug=run.debug)
        warn_if_skipped(f, args, kwargs, run.config)


def refuse_no_cotangent(call: Any, place: int, ct: Any) -> None:
    """Raise an error for `NoTangent()` of an argument, or a part, with a tangent."""
    own = place - (not call.bound)
    primal = call.rule.key if own < 0 else call.args[own]
    what = "the function itself" if own < 0 else f"argument {own}"
    refuse_no_tangent(call.rule, primal, ct, f"the cotangent of {what}")
    check_whole(primal, ct, name_cotangent(call, place))


WHOLE_CURE = (
    "Integers carry no derivative. Convert it in the rule, or return ZeroTangent() for "
    "zeros."
)


def check_whole(primal: Any, tangent: Any, path: str) -> None:
    """Raise an error for a rule's tangent of integers, or with such an entry.

    Raises:
        ProjectionError: It is for a primal of floats; Python's integers are numbers.
    """
    if tangent is None or isinstance(tangent, (float, AbstractZero, AbstractThunk)):
        return
    dtype = whole_numbers(primal, tangent)
    if dtype is not None:
        must = "be floating or complex"
        raise ProjectionError(path, must, f"dtype {dtype}", WHOLE_CURE)
    if isinstance(tangent, CONTAINERS) and (level := structure(primal)) is not None:
        try:
            given = entries_of(level, tangent, path)
        except ProjectionError:
            return  # projection raises it
        for name, value in zip(level.names, level.values, strict=True):
            check_whole(value, given.get(name), f"entry {name!r} of {path}")
