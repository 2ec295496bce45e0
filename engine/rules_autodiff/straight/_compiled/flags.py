"""The processor's notes of floating-point errors: compiled code raises no others.

A division by zero, an invalid operation or an overflow anywhere in compiled code leaves
a mark, even if the number is not used later. Python or NumPy would raise an error
there, or warn.
"""

import platform
from functools import cache
from typing import Any

from .files import module_of
from .terms import refuse

__all__ = ["UNDERFLOW", "flags"]

UNDERFLOW = 16  # of the marks as `flags` gives them
# By processor, the bits of <fenv.h>: invalid, division by zero, overflow, underflow.
BITS = {
    "x86_64": (1, 4, 8, 16), "amd64": (1, 4, 8, 16), "i686": (1, 4, 8, 16),
    "aarch64": (1, 2, 4, 8), "arm64": (1, 2, 4, 8),
}  # fmt: skip

TEXT = '''"""The marks of floating-point errors."""

from numba import njit, types

clearing = types.ExternalFunction("feclearexcept", types.int32(types.int32))
testing = types.ExternalFunction("fetestexcept", types.int32(types.int32))


@njit("void()", cache=CACHE)
def clear():
    clearing({every})


@njit("int32()", cache=CACHE)
def marks():
    found = testing({every})
    return (1 if found & {errors} else 0) + (16 if found & {small} else 0)
'''


@cache
def flags() -> tuple[Any, Any]:
    """Functions that clear the marks, and that give them; not zero after an error.

    Raises:
        Uncompiled: It is not known how to read the marks here.
    """
    bits = BITS.get(platform.machine().lower())
    if bits is None or platform.system() == "Windows":
        refuse(
            f"the marks of floating-point errors on {platform.machine()} are not known"
        )
    module = module_of(
        TEXT.format(every=sum(bits), errors=sum(bits[:3]), small=bits[3])
    )
    return module.clear, module.marks
