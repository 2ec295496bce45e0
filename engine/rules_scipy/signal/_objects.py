"""Linear systems as objects: their responses, by the functions of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.signal as _sp
from scipy.signal import _ltisys

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy._methods import covers_methods

from ._forms import in_form, parts_of
from ._lti import bode, dbode, dfreqresp, dimpulse, dstep, freqresp, impulse, step
from ._operators import NAMES, Operators
from ._systems import cont2discrete, dlsim, lsim

__all__ = ["StateSpace", "TransferFunction", "ZerosPolesGain", "dlti", "lti"]

_NAMES: dict[int, tuple[str, ...]] = {
    2: ("num", "den"),
    3: ("zeros", "poles", "gain"),
    4: ("A", "B", "C", "D"),
}


class _System(Operators):
    """A system by its arrays: a container of them.

    Attributes:
        parts: Two, three or four arrays, as `in_form` makes them.
        dt: The step of a discrete system, a constant; None of a continuous one.
    """

    def __init__(self, parts: Sequence[Any], dt: Any = None) -> None:
        self.parts, self.dt = tuple(parts), dt

    def __tangent_structure__(self) -> rc.Structure:
        names = [str(i) for i in range(len(self.parts))]

        own = _Continuous if self.dt is None else _Discrete

        def build(values: Sequence[Any]) -> _System:
            return own(values, self.dt)

        return rc.Structure(own, "field", names, list(self.parts), build)

    def made(self, parts: Sequence[Any]) -> Any:
        """A system of this kind."""
        own = _Continuous if self.dt is None else _Discrete
        return own(parts, self.dt)

    def taken(self, other: Any) -> Any:
        """The other operand of a sum or product."""
        if isinstance(other, _ltisys.LinearTimeInvariant):
            other = _own(other)
        if isinstance(other, _System):
            return other if (other.dt is None) == (self.dt is None) else None
        is_number = isinstance(other, int | float | complex)
        return other if is_number or rc.is_array(other) else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("parts", "dt"):
            raise AttributeError(name)
        names = _NAMES[len(self.parts)]
        if name in names:
            return self.parts[names.index(name)]
        message = (
            f"A system with a derivative has no {name!r}: convert its arrays, by "
            "tf2ss, tf2zpk and others."
        )
        raise rc.UnsupportedError(message)


_FORMS = {2: "TransferFunction", 3: "ZerosPolesGain", 4: "StateSpace"}


def _of_scipy(time: str) -> property:
    """SciPy's class of a system, which it chooses by the form."""

    def found(self: Any) -> Any:
        return getattr(_ltisys, f"{_FORMS[len(self.parts)]}{time}")

    return property(found)


class _Continuous(_System):
    """A system in continuous time, as `scipy.signal.lti`."""

    __stands_for__ = _of_scipy("Continuous")

    def step(self, X0: Any = None, T: Any = None, N: Any = None) -> Any:
        """`(T, y)`: the response to a step."""
        return step(self.parts, X0, T, N)

    def impulse(self, X0: Any = None, T: Any = None, N: Any = None) -> Any:
        """`(T, y)`: the response to an impulse."""
        return impulse(self.parts, X0, T, N)

    def output(self, U: Any, T: Any, X0: Any = None) -> Any:
        """`(T, y, x)`: the response to an input."""
        return lsim(self.parts, U, T, X0)

    def freqresp(self, w: Any = None, n: int = 10_000) -> Any:
        """`(w, H)`: the response at frequencies."""
        return freqresp(self.parts, w, n)

    def bode(self, w: Any = None, n: int = 100) -> Any:
        """`(w, magnitude, phase)`, in decibels and degrees."""
        return bode(self.parts, w, n)

    def to_discrete(self, dt: float, method: str = "zoh", alpha: Any = None) -> Any:
        """The system in discrete time."""
        found: Any = cont2discrete(self.parts, dt, method, alpha)
        return _Discrete(in_form(found[:-1]), dt)


class _Discrete(_System):
    """A system in discrete time, as `scipy.signal.dlti`."""

    __stands_for__ = _of_scipy("Discrete")

    @property
    def whole(self) -> tuple[Any, ...]:
        """The arrays and the step."""
        return (*self.parts, self.dt)

    def step(self, x0: Any = None, t: Any = None, n: Any = None) -> Any:
        """`(t, (y, …))`: the response to a step of each input."""
        return dstep(self.whole, x0, t, n)

    def impulse(self, x0: Any = None, t: Any = None, n: Any = None) -> Any:
        """`(t, (y, …))`: the response to an impulse of each input."""
        return dimpulse(self.whole, x0, t, n)

    def output(self, u: Any, t: Any, x0: Any = None) -> Any:
        """`(t, y)`, of matrices `(t, y, x)`: the response to an input."""
        return dlsim(self.whole, u, t, x0)

    def freqresp(self, w: Any = None, n: int = 10_000, whole: bool = False) -> Any:
        """`(w, H)`: the response at angles."""
        return dfreqresp(self.whole, w, n, whole)

    def bode(self, w: Any = None, n: int = 100) -> Any:
        """`(w, magnitude, phase)`, in decibels and degrees."""
        return dbode(self.whole, w, n)


def lti(*system: Any) -> Any:
    """A system in continuous time, as `scipy.signal.lti`.

    >>> import jax, numpy as np
    >>> from rules_scipy import signal
    >>> def late(den):
    ...     return signal.lti(np.ones(1), den).step(T=[0.0, 9.0])[1][1]
    >>> round(float(jax.grad(late)(np.asarray([1.0, 2.0]))[1]), 2)
    -0.25
    """
    return _Continuous(in_form(system))


def dlti(*system: Any, dt: float = 1.0) -> Any:
    """A system in discrete time, as `scipy.signal.dlti`."""
    return _Discrete(in_form(system), dt)


def _either(count: int) -> Callable[..., Any]:
    def made(*system: Any, dt: Any = None) -> Any:
        if count == 4 and len(system) == 3:
            system = (*system, _no_feedthrough(*system))
        if len(system) != count:
            message = f"It is made of {count} arrays, but got {len(system)}."
            raise ValueError(message)
        parts = in_form(system)
        return _Continuous(parts) if dt is None else _Discrete(parts, dt)

    return made


def _no_feedthrough(_: Any, b: Any, c: Any) -> Any:
    """`D = 0`, which SciPy takes where it is left out."""
    b, c = (np.atleast_2d(np.empty(np.shape(x))) for x in (b, c))
    return np.zeros((c.shape[0], b.shape[1]))


rc.non_differentiable(_no_feedthrough)

TransferFunction, ZerosPolesGain, StateSpace = map(_either, (2, 3, 4))


def _own(system: Any) -> Any:
    """This pack's object of SciPy's, which may be one already."""
    if isinstance(system, _System):
        return system
    parts = parts_of(system)
    if system.dt is None:
        return _Continuous(parts)
    return _Discrete(parts[:-1], system.dt)


_METHODS = "step impulse output freqresp bode"
covers_methods(_ltisys.lti, _own, f"{_METHODS} to_discrete")
covers_methods(_ltisys.dlti, _own, _METHODS)
for _cls in (_ltisys.TransferFunction, _ltisys.ZerosPolesGain, _ltisys.StateSpace):
    _continuous = getattr(_ltisys, f"{_cls.__name__}Continuous")
    covers_methods(_continuous, _own, "to_discrete")

covers_methods(_ltisys.StateSpace, _own, NAMES)

for _name in ("lti", "dlti", "TransferFunction", "ZerosPolesGain", "StateSpace"):
    stand_in(getattr(_sp, _name))(globals()[_name])
