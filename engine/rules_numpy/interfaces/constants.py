"""Functions without derivative: comparisons, indices, dtypes, files, random numbers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import constant, derivative

__all__ = ["NAMES"]

# Public functions of `numpy`, `numpy.linalg` and `numpy.fft` whose results are
# integers, booleans, strings, dtypes, or do not depend on any float.
NAMES = """
all allclose any argmax argmin argpartition argsort argwhere array2string array_equal
array_equiv array_repr array_str bartlett base_repr binary_repr bitwise_and
bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor blackman broadcast_shapes busday_count busday_offset
can_cast common_type count_nonzero datetime_as_string datetime_data diag_indices
diag_indices_from digitize einsum_path empty equal eye flatnonzero
format_float_positional format_float_scientific frombuffer fromfile fromregex fromstring
gcd genfromtxt get_include get_printoptions getbufsize geterr geterrcall greater
greater_equal hamming hanning identity indices info invert is_busday isclose iscomplex
iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat isneginf isposinf isreal
isrealobj isscalar issubdtype iterable lcm left_shift less less_equal lexsort load
loadtxt logical_and logical_not logical_or logical_xor mask_indices may_share_memory
min_scalar_type mintypecode nanargmax nanargmin ndim nonzero not_equal ones packbits
printoptions promote_types ravel_multi_index result_type right_shift save savetxt savez
savez_compressed searchsorted set_printoptions setbufsize seterr seterrcall shape
shares_memory show_config show_runtime signbit size tri tril_indices
tril_indices_from triu_indices triu_indices_from typename unpackbits unravel_index zeros
linalg.matrix_rank
""".split()

_METHODS = """
all any argmax argmin argpartition argsort dump dumps nonzero searchsorted setflags
tobytes tofile
__bool__ __int__ __index__ __len__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__
__ge__ __invert__ __and__ __or__ __xor__ __lshift__ __rshift__ __rand__ __ror__
__rxor__ __rlshift__ __rrshift__ __repr__ __str__ __format__ __sizeof__
""".split()

_INTEGERS = """
bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 longlong ulonglong str_ bytes_
datetime64 timedelta64 dtype finfo iinfo ndindex busdaycalendar
""".split()

# Methods of random generators that return, or write to, entries of their arguments.
_MOVING = {"permutation", "permuted", "shuffle", "choice"}


def _find(name: str) -> Any:
    owner: Any = np
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


def _random_methods() -> list[Any]:
    methods: dict[Any, None] = {}
    for cls in (np.random.Generator, np.random.RandomState, np.random.BitGenerator):
        for name in vars(cls):
            method = getattr(cls, name)
            if callable(method) and not name.startswith("_") and name not in _MOVING:
                methods[method] = None
    for name in ("default_rng", "seed", "get_state", "set_state"):
        f = getattr(np.random, name)
        methods[getattr(f, "__func__", f)] = None
    return [f for f in methods if not hasattr(f, "__self__")]


def _standard_random() -> list[Any]:
    """The functions of `random`; `choice` and others return their arguments' items."""
    names = (
        "random uniform triangular betavariate expovariate gammavariate gauss "
        "lognormvariate normalvariate vonmisesvariate paretovariate weibullvariate "
        "randint randrange getrandbits randbytes seed getstate setstate"
    )
    methods = [getattr(random.Random, name, None) for name in names.split()]
    return [f for f in methods if f is not None]


def _declare() -> None:
    functions = [f for f in map(_find, NAMES) if f is not None]
    for name in _METHODS:
        for cls in (np.ndarray, np.generic):
            own = vars(cls).get(name)
            if own is not None:
                functions.append(own)
    functions += [getattr(np, name) for name in _INTEGERS if hasattr(np, name)]
    functions += _random_methods() + _standard_random()
    rc.non_differentiable(constant(list(dict.fromkeys(functions))))


_declare()


@derivative([np.zeros_like, np.ones_like, np.empty_like])
def like_derivative(y: Any, a: Any, *_options: Any, **_kw: Any) -> Any:
    """Independent of the entries of the model."""
    return None
