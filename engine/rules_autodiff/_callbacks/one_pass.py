"""A program that has run forward with tangents, and what is left to do about it."""

from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import Const, Entrance, without_const
from rules_autodiff._boundary.leave import as_given
from rules_autodiff._boundary.whole_results import with_zeros
from rules_autodiff._forward.forward import ForwardRun
from rules_autodiff._forward.kept_state import restore
from rules_autodiff._python.leaves import leaves
from rules_autodiff._tape.recording import guarded
from rules_core import NoTangent

__all__ = ["OnePass", "is_nothing", "is_undefined"]


class OnePass:
    """A program that has run forward, before its effects on the arguments are kept.

    Args:
        run: Its hooks.
        f: The program.
        primals: Its arguments.
        lanes: The tuples of tangents.
        callables: Whether what functions capture is differentiated too.
        apart: Whether its writes to arguments have no effect outside.
    """

    def __init__(
        self,
        run: ForwardRun,
        f: Any,
        primals: Any,
        lanes: list[Any],
        *,
        callables: bool,
        apart: bool,
    ):
        self.run, self.f, self.primals, self.lanes = run, f, primals, lanes
        self.entrance = Entrance(run, callables=callables, apart=apart)
        self.inner, active = without_const(primals), []
        for i, x in enumerate(primals):
            if isinstance(x, Const):
                continue
            directions = [lane[i] for lane in lanes]
            if all(is_nothing(dx) for dx in directions):
                continue
            self.inner[i] = self.entrance.enter(x)
            active.append(i)
            run.begin(self.inner[i], directions)
        if len(active) < len(self.inner):
            self.entrance.enter_beside(self.inner, active)
        try:
            self.out = guarded(run, f, self.inner, {})
        except BaseException:
            self.write_back()  # the state after a plain call
            raise

    def write_back(self) -> None:
        self.entrance.write_back(lambda: self.run.written_ids)

    def take_back(self) -> None:
        """Leave the arguments as they were."""
        restore(self.run)
        self.run.functions.clear()
        self.run.retire()

    def is_undefined(self, has_aux: bool) -> bool:
        """Whether a tangent of a value that is a number is none."""
        main = self.out[0] if has_aux else self.out
        if is_undefined(main):
            return False
        lanes = range(len(self.lanes))
        return any(is_undefined(self.run.tangent(main, lane)) for lane in lanes)

    def finish(self, has_aux: bool) -> tuple[Any, list[Any]]:
        """The output and its tangents."""
        run, out = self.run, self.out
        if run.changed:
            self.entrance.check_written(run.written_ids)
            self.entrance.check_alone(run.written_ids, self.f, self.primals, self.inner)
            self.write_back()
        run.functions.clear()  # their cells refer to the run
        main = out[0] if has_aux else out
        found = [run.own_tangent(main, lane) for lane in range(len(self.lanes))]
        dys = [with_zeros(main, as_given(main, dy, run.below)) for dy in found]
        run.retire()
        return out, dys


def is_nothing(dx: Any) -> bool:
    return dx is None or isinstance(dx, NoTangent)


def is_undefined(x: Any) -> bool:
    """Whether a number inside a value is NaN."""
    return any(np.isnan(leaf).any() for leaf in leaves(x))
