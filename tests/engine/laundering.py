"""An oracle: nothing that takes a number hands it back without its derivative.

A program feeds a number to a callable and makes what comes out a number again. Where
finite differences are certain that the result depends on the number, the engine must
give that derivative, or raise an error of its own.
"""

import contextlib
import importlib
import inspect
import io
import itertools
import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType

import numpy as np

from rules_autodiff import grad, jvp
from rules_core import RulesCoreError

__all__ = ["SHAPES", "callables", "finding", "number", "program_of"]

X = 1.3
STEPS = (1e-3, -1e-3, 2e-4)


# from an object back to a number


def number(y, depth=0):
    """A number that depends on all that an object holds."""
    if isinstance(y, float | np.ndarray | np.generic | int):
        return total(y)
    if isinstance(y, complex):
        return y.real + y.imag
    if isinstance(y, bytes | bytearray | memoryview):
        return of_bytes(y)
    if isinstance(y, str):
        return of_text(y)
    if depth > 3:
        return 0.0
    if isinstance(y, Mapping):
        return sum([number(v, depth + 1) for v in y.values()])
    if isinstance(y, list | tuple | set | frozenset):
        return sum([number(v, depth + 1) for v in y])
    return of_object(y, depth)


def total(y):
    if isinstance(y, np.ndarray | np.generic):
        if y.dtype.kind in "SU":
            return sum([of_text(v) for v in y.ravel().tolist()])
        if y.dtype.kind in "mM":
            return float(np.sum(y.astype("int64")))
        if y.dtype.kind == "c":
            return float(np.sum(y.real) + np.sum(y.imag))
    return np.sum(y) * 1.0


def of_bytes(y):
    try:
        return float(np.sum(np.frombuffer(y)))
    except ValueError:
        return float(bytes(y))


def of_text(y):
    if isinstance(y, bytes):
        return float(y)
    try:
        return float(y)
    except ValueError:
        return float.fromhex(y)


METHODS = ("total_seconds", "timestamp", "getvalue", "tolist", "read", "get", "mean")
ATTRIBUTES = ("value", "data", "args", "microsecond", "x", "real", "start", "func")


def of_object(y, depth):
    for name in METHODS:
        method = getattr(y, name, None)
        if method is not None:
            try:
                return number(method(), depth + 1)
            except (TypeError, ValueError):
                continue
    try:
        return float(y)
    except (TypeError, ValueError):
        pass
    for name in ATTRIBUTES:
        if hasattr(y, name):
            return number(getattr(y, name), depth + 1)
    return sum([number(v, depth + 1) for v in itertools.islice(y, 4)])


# how callables are called

SHAPES = {
    "x": lambda x: (x,),
    "x, 2": lambda x: (x, 2),
    "2.0, x": lambda x: (2.0, x),
    "x, 2.0, 3.0": lambda x: (x, 2.0, 3.0),
    "list": lambda x: ([x, 2.0],),
    "two lists": lambda x: ([x, 2.0], [1.0, 3.0]),
    "scalar": lambda x: (np.float64(x),),
    "array": lambda x: (np.ones(3) * x,),
    "two arrays": lambda x: (np.ones(3) * x, np.array([1.0, 2.0, 4.0])),
    "matrix": lambda x: (np.array([[2.0, 1.0], [1.0, 3.0]]) * x,),
    "array, 1": lambda x: (np.ones(3) * x, 1),
    "bytes": lambda x: (np.float64(x).tobytes(),),
    "bytes of a list": lambda x: ("d", np.float64(x).tobytes()),
    "text": lambda x: (repr(x),),
    "d, x": lambda x: ("d", x),
    "d, list": lambda x: ("d", [x, 2.0]),
    "text and list": lambda x: ("%r", [x]),
    "function": lambda x: (lambda v: v * x, [1.0, 2.0]),
    "binary function": lambda x: (lambda v, w: v * x + w, [1.0, 2.0]),
}


def program_of(f, shape):
    """The program that calls `f`, and uses what it gives as a number."""
    build = SHAPES[shape] if isinstance(shape, str) else shape

    def program(x):
        return number(f(*build(x))) * 1.0

    return program


def slope_of(program):
    """The derivative by differences; None where they do not agree, or find none."""
    try:
        here = float(program(X))
        found = [(float(program(X + h)) - here) / h for h in STEPS]
    except (Exception, SystemExit):
        return None
    slope = found[2]
    agree = np.allclose(found, slope, rtol=1e-2, atol=0.0)
    return slope if agree and np.isfinite(slope) and abs(slope) > 1e-6 else None


def finding(program):
    """What is wrong with the derivative of a program; None where nothing is."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), quiet():
        warnings.simplefilter("ignore")
        slope = slope_of(program)
        if slope is None:
            return None
        for name, run in (("grad", reverse), ("jvp", forward)):
            try:
                found = float(run(program))
            except RulesCoreError:
                continue
            except Exception as error:
                return f"{name} raises {type(error).__name__}: {error}"[:200]
            if not np.isclose(found, slope, rtol=2e-2):
                return f"{name} gives {found}, differences {slope}"
    return ""


def quiet():
    return contextlib.redirect_stdout(io.StringIO())


def reverse(program):
    return grad(program)(X)


def forward(program):
    return jvp(program, (X,), (1.0,))[1]


# what there is to be called

MODULES = """
array ast base64 binascii bisect builtins bz2 calendar cmath codecs collections
colorsys configparser contextlib contextvars copy copyreg csv ctypes datetime decimal
difflib enum fractions functools hashlib heapq hmac html io ipaddress itertools json
marshal math numbers operator pickle pprint queue quopri random re reprlib shlex
statistics string struct textwrap time types typing unicodedata uuid zlib
numpy numpy.char numpy.dtypes numpy.fft numpy.lib.array_utils
numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.ma numpy.polynomial
numpy.polynomial.polynomial numpy.polynomial.chebyshev numpy.rec numpy.random
numpy.strings
""".split()
# Effects outside of the process, or of the whole process; and what waits or never ends.
LEFT_OUT = frozenset({
    "breakpoint", "copyright", "credits", "compile", "eval", "exec", "exit", "help",
    "input", "license", "open", "open_code", "quit", "print", "sleep", "tzset",
    "save", "savez", "savez_compressed", "savetxt", "memmap", "open_memmap", "fromfile",
    "load_library", "test", "show_config", "info", "set_printoptions", "setbufsize",
    "seterr", "seterrcall", "get_include", "CDLL", "PyDLL", "LibraryLoader",
    "string_at", "wstring_at", "memset", "memmove", "cast", "clock_settime",
    "clock_settime_ns", "FileIO", "dump_traceback", "set_state", "seed",
    "uuid1", "getnode", "dlsym",
    "addressof", "py_object", "main", "hash", "finalize", "DllGetClassObject",
    "set_bit_generator", "setlocale", "register", "register_error", "Queue",
    "LifoQueue", "PriorityQueue", "SimpleQueue", "setcontext", "localcontext",
})  # fmt: skip


def callables(modules=MODULES) -> Iterator[tuple[str, object]]:
    """The public callables of modules, with class methods; each once."""
    seen = set()
    for name in modules:
        for path, f in of_module(importlib.import_module(name)):
            try:
                if f in seen:
                    continue
                seen.add(f)
            except TypeError:
                continue
            yield path, f


def of_module(module: ModuleType):
    for name, f in sorted(vars(module).items()):
        if name.startswith("_") or name in LEFT_OUT or not callable(f):
            continue
        if inspect.isclass(f) and issubclass(f, BaseException):
            continue
        yield f"{module.__name__}.{name}", f
        if inspect.isclass(f):
            yield from of_class(f"{module.__name__}.{name}", f)


def of_class(path, cls):
    for name in dir(cls):
        if name.startswith("_") or name in LEFT_OUT:
            continue
        f = inspect.getattr_static(cls, name, None)
        bound = isinstance(f, classmethod | staticmethod) or (
            type(f).__name__ == "classmethod_descriptor"
        )
        if bound:
            yield f"{path}.{name}", getattr(cls, name)
