"""Namespaces of primitives that `operators` can be written in.

`generic` has the primitives of this folder, `packs` NumPy's functions (opaque calls
with the NumPy pack's rules) and SciPy's special ones. Each has a raw twin without
rules, which tells the samples on which NumPy's function is another one than torch's.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special
import torch
from torch.utils import _pytree as pytree

import rules_core as rc
import rules_scipy.special
from rules_torch import to_torch

from .generic_matrices import generic
from .oracle import moving

__all__ = ["SPACES", "Space"]


class Tree:
    """Attributes of an object, each through a function; namespaces stay trees."""

    def __init__(self, owner: Any, leaf: Callable[[Any], Any], **more: Any) -> None:
        self._owner, self._leaf = owner, leaf
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._owner, name)
        inner = isinstance(found, ModuleType) or not callable(found)
        made = Tree(found, self._leaf) if inner else self._leaf(found)
        self.__dict__[name] = made
        return made


class Space:
    """A namespace and its twin without rules, which takes plain values."""

    def __init__(self, primitives: Any, raw: Any, plain: Callable[[Any], Any]) -> None:
        self.primitives, self.raw, self.plain = primitives, raw, plain

    def has(self, path: str) -> bool:
        try:
            attrgetter(path)(self.primitives)
        except AttributeError:
            return False
        return True

    def same(self, entry: Any) -> Callable[[Any, Any], bool]:
        """Whether an operator and the raw function give results of one form."""
        call = entry.call(self.raw)

        def same(op: Any, sample: Any) -> bool:
            args, kwargs = pytree.tree_map(
                self.plain, ((sample.input, *sample.args), sample.kwargs)
            )
            try:
                mine = pytree.tree_map(_tensor, call(*args, **kwargs))
            except Exception:  # NumPy does not know these arguments
                return False
            theirs = op(sample.input, *sample.args, **sample.kwargs)
            return list(map(_form, moving(mine))) == list(map(_form, moving(theirs)))

        return same


def _form(x: torch.Tensor) -> Any:
    return tuple(x.shape), x.is_complex()


def _tensor(x: Any) -> Any:
    plain = isinstance(x, (np.ndarray, np.generic))
    return torch.as_tensor(np.array(x)) if plain else x


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def _array(x: Any) -> Any:
    return x.detach().numpy(force=True) if isinstance(x, torch.Tensor) else x


def _opaque(f: Any) -> Any:
    return to_torch(f, host=True)


def _body(handle: rc.Primitive) -> Any:
    return handle.fun


def _itself(f: Any) -> Any:
    return f


SPACES = {
    "generic": Space(generic, Tree(generic, _body), _detached),
    "packs": Space(
        Tree(np, _opaque, special=rules_scipy.special),
        Tree(np, _itself, special=scipy.special),
        _array,
    ),
}
