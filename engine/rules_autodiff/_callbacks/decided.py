"""Cotangents where a zero met an infinite derivative, computed once more.

The gradient is a program too. It runs again on a level that knows what moves with the
arguments; there the product with infinity of a zero that moves is NaN.
"""

from typing import Any

import numpy as np

from rules_autodiff._forward.deciding_run import DecidingRun
from rules_autodiff._forward.watched import without
from rules_autodiff._hooks.calls import Transform
from rules_autodiff._python.leaves import leaves, mapped
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import name_of, refused
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.linear_map import agree
from rules_core import structure
from rules_core.extend import strong_zeros_met

from .one_pass import OnePass

__all__: list[str] = []

ENTRIES = 8  # that are looked at one by one, at most


class Again(Transform):
    """The reverse pass of a recording, on another level.

    Attributes:
        found: The cotangents.
    """

    found: Any = None

    def __init__(self, first: Recording, seeds: list[Any]):
        self.first, self.seeds = first, seeds

    def run_on(self, below: Any, *args: Any) -> None:
        again, seeds = repeated(self.first, self.seeds, below, args)
        again.give(seeds)
        self.found = again.run_back(below)


def repeated(
    first: Recording, seeds: list[Any], below: Any, args: Any
) -> tuple[Recording, list[Any]]:
    """A recording once more, on another level, and the cotangents of its output."""
    f, active = first.f, first.active
    again = Recording(below, f, args, first.kwargs, active, callables=first.callables)
    again.asked, again.decides = first.asked, False
    if not first.run.changes and not agree(first.output, again.output):
        refused("watched", name_of(f))
    outs = [counterpart(out, first.output, again.output) for out, _, _ in seeds]
    pairs = zip(outs, seeds, strict=True)
    return again, [(out, dy, below) for out, (_, dy, _) in pairs]


def decided(
    first: Recording, seeds: list[Any], below: Any, found: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The cotangents of a recording in which a zero met infinity.

    Args:
        first: The recording.
        seeds: Parts of its output with their cotangents.
        below: The level of the reverse pass.
        found: The cotangents, with all zeros strong.
    """
    if below is not PLAIN and stay_on_plain_numbers(first, seeds):
        return found
    known: tuple[Any, ...] = Decision(first, seeds, below, found).result()
    return known


class Decision:
    """What is known of the cotangents, by passes in which different arguments move.

    A partial derivative holds the other arguments: where it is not known if all move,
    it may be if one entry does.

    Attributes:
        doubts: For each leaf of the cotangents the entries that are not known.
    """

    def __init__(self, first: Recording, seeds: list[Any], below: Any, found: Any):
        self.first, self.seeds, self.below, self.found = first, seeds, below, found
        active = [first.args[i] for i in first.active]
        self.xs = [leaves(x) for x in active]
        self.cotangents = leaves(found)
        self.doubts = [np.zeros(np.shape(dx), bool) for dx in self.cotangents]

    def again(self, moves: Any) -> Any:
        """The cotangents with NaN for what is not known."""
        first = self.first
        again, lane = Again(first, self.seeds), [None] * len(first.args)
        for i, own in zip(first.active, moves, strict=True):
            lane[i] = own
        run = DecidingRun(self.below)
        options = {"callables": first.callables, "apart": False}
        OnePass(run, again, first.args, [tuple(lane)], **options).take_back()
        return again.found

    def result(self) -> Any:
        """The cotangents, NaN where they are not known."""
        whole = self.again([True] * len(self.first.active))
        others = leaves(whole)
        if len(others) != len(self.cotangents):
            return whole
        pairs = zip(self.cotangents, others, strict=True)
        self.doubts = [np.isnan(other) & ~np.isnan(dx) for dx, other in pairs]
        if not any(map(np.any, self.doubts)):
            return self.found
        if not self.fits():
            return whole
        self.ask_each()
        good = iter([np.logical_not(doubt) for doubt in self.doubts])
        return mapped(
            self.found, lambda dx: without(self.below, dx, dx, next(good)), {}
        )

    def fits(self) -> bool:
        """Whether the leaves of arguments and cotangents belong together."""
        xs = [x for row in self.xs for x in row]
        shapes = [np.shape(x) for x in xs], [np.shape(dx) for dx in self.cotangents]
        alone = len({id(dx) for dx in self.cotangents}) == len(self.cotangents)
        return alone and shapes[0] == shapes[1]

    def ask_each(self) -> None:
        """Let one leaf move alone, and then one entry."""
        for place, doubt in enumerate(self.doubts):
            if len(self.doubts) > 1 and np.any(doubt):
                self.ask(place, np.ones_like(doubt))
        if sum(map(np.count_nonzero, self.doubts)) > ENTRIES:
            return
        for place, doubt in enumerate(self.doubts):
            for index in map(tuple, np.argwhere(doubt)) if doubt.size > 1 else ():
                mask = np.zeros_like(doubt)
                mask[index] = True
                self.ask(place, mask)

    def ask(self, place: int, mask: Any) -> None:
        """Let some entries of a leaf move alone."""
        masks = iter([mask if i == place else False for i in range(len(self.doubts))])
        moves = [[next(masks) for _ in row] for row in self.xs]
        other = leaves(self.again(moves))[place]
        self.doubts[place] = self.doubts[place] & (np.isnan(other) | ~mask)


def stay_on_plain_numbers(first: Recording, seeds: list[Any]) -> bool:
    """Whether the zeros stay by a reverse pass on plain numbers, which is quick."""
    if first.run.changes:
        return False
    try:
        with np.errstate(all="ignore"):
            plain, own = repeated(first, seeds, PLAIN, first.args)
            met = strong_zeros_met()
            plain.give(own)
            plain.run_back(PLAIN)
            return strong_zeros_met() == met or plain.zeros_stay(own)
    except Exception:  # what follows tells more
        return False


def counterpart(part: Any, known: Any, other: Any) -> Any:
    """The part of another output, where a part of the known one is."""
    if part is known:
        return other
    level, beside = structure(known), structure(other)
    if level is None or beside is None:
        return None
    pairs = zip(level.values, beside.values, strict=True)
    found = (counterpart(part, *pair) for pair in pairs)
    return next((x for x in found if x is not None), None)


Recording.decided = staticmethod(decided)
