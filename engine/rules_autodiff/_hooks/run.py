"""One run of a lifted program: the common part of reverse and forward mode.

A run is a table of hooks. What they do stands in the modules of this room, one for each
part of Python: functions of the run, which ask it for what another mode may do in
another way. They hold no run themselves: whoever keeps one keeps its tape.
"""

import builtins
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar

import numpy as np

from rules_autodiff._own_rules.own_rule import CORE
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, is_number, is_sparse
from rules_autodiff._refusals import refused
from rules_core import RuleConfig, structure
from rules_core.extend import is_watching

from . import (
    access,
    attributes,
    caches,
    calls,
    identity,
    rule_errors,
    sets,
    skipped_stores,
    special_methods,
    texts,
)
from .operators import OPERATORS, binary, comparison, inplace, unary

__all__ = ["Run"]


class Run:
    """The hooks of one forward pass over the level ``below``.

    Nothing of a run is global, so runs nest and run in parallel.

    Attributes:
        over: Whether the forward pass has ended; nothing is followed from then on.
        failure: The first error that is not the program's own.
        functions: Lifted functions of this run.
        memo: What `functools.lru_cache` keeps, for this run alone.
        raw: By identity, bytes and hash objects that were made of active values.
        made: By identity, the texts, bytes and numbers that stand for such values.
        keys: Texts, bytes and hashes that were made of such values.
        texts: The numbers with derivatives that went into texts and files.
        stored: Dicts and the hashes of the keys that were stored in this run.
        met: Where a constant was found that is equal to an active value.
        close: Whether an argument was found to be nearly what the program knows.
        whole: Whether a value with a derivative was rounded.
        skipped: By identity, results of earlier calls, which must not be read then.
        holders: By identity, containers of such results.
        read_early: Where one was read before the argument was found.
        read_since: By identity, the constant arrays that were read after that.
        decides: Whether a function of the program may leave out what it stores.
        program: The function that is differentiated, and its arguments.
        older: By identity, what is older than the run; None until it is asked.
        exported: By the id of an owner, the owner and what its memory was given to.
        outside: Owners with derivatives whose memory belongs to no array.
        copies: The results of rules that were copied.
        read_ids: What functions with rules read from outside, by the ids of objects.
        rebinds: Whether a function of the program assigns outer variables.
        entered: Lists of the user's arguments, each with the program's object for it.
        flags: By its id, each object that was given out as `a.flags`, and the array.
        debug: Whether debug mode was on when the run began.
    """

    # They stand above this module, and are set there.
    config: ClassVar[RuleConfig]
    recording: ClassVar[Callable[..., Any]]  # a program and its tape
    operation: ClassVar[Callable[..., Any]]  # a call of one without effects

    over = False
    failure: Exception | None = None
    met = ""
    close = False
    whole = False
    read_early = ""
    decides = False
    older: Any = None
    program: Any = ()
    rebinds = False

    # Calls.
    call, method = calls.call, calls.method
    call_native, call_opaque = calls.call_native, calls.call_opaque
    has_rules, opted_out = calls.has_rules, calls.opted_out
    explained_mutating = rule_errors.explained_mutating
    derive = calls.derive

    # Attributes and items.
    getattr, delattr = attributes.get_attribute, attributes.delete_attribute
    store_attr = attributes.store_attribute
    getitem, store_item, delitem = access.getitem, access.store_item, access.delitem
    entries, contains = access.entries, access.contains
    slice = staticmethod(builtins.slice)

    # Iteration, patterns and contexts.
    iter, array_items = access.iterated, access.array_items
    starred, unpack, unpacked = access.starred, access.unpack, access.unpacked
    check_pattern, context = access.check_pattern, access.context

    # Operators, beside those of `OPERATORS`.
    binary, unary = binary, unary
    comparison, inplace = comparison, inplace
    is_same = identity.is_same
    truth = special_methods.truth
    found = skipped_stores.found
    decided = skipped_stores.decided
    passing, passed = skipped_stores.passing, skipped_stores.passed
    attribute_for_test = skipped_stores.attribute_for_test
    item_for_test = skipped_stores.item_for_test
    outer = skipped_stores.outer
    either, both_of = special_methods.either, special_methods.both_of

    # Literals.
    from_text, formatted = texts.from_text, texts.formatted
    display = caches.display
    hashed, hashed_items = sets.hashed, sets.hashed_items

    def __init__(self, below: Any = PLAIN):
        self.below = below
        self.plain = below is PLAIN
        self.depth = below.depth + 1
        self.functions: dict[Any, Any] = {}
        self.memo: dict[Any, Any] = {}  # of functools.lru_cache, for this run alone
        self.texts: set[Any] = set()
        self.keys: set[Any] = set()
        self.raw: dict[int, Any] = {}
        self.made: dict[int, Any] = {}
        self.skipped: dict[int, Any] = {}
        self.holders: dict[int, Any] = {}
        self.read_since: dict[int, Any] = {}
        self.stored: dict[int, tuple[Any, set[int]]] = {}
        self.exported: dict[int, tuple[Any, str]] = {}
        self.outside: list[Any] = []
        self.copies: list[Any] = []
        self.flags: dict[int, tuple[Any, Any]] = {}
        self.entered: Any = ()
        self.read_ids: dict[Any, set[int]] = {}
        self.debug = is_watching()

    def __tangent_structure__(self) -> None:
        """The cells of lifted functions hold their run: it is no container."""

    def slot(self, x: Any) -> Any:
        """The slot or tangent of a value; None for a constant."""
        raise NotImplementedError

    def core(self, key: Any, args: tuple[Any, ...]) -> Any:
        """An operation with a rule of the engine's own."""
        raise NotImplementedError

    def numeric(self, name: str, args: tuple[Any, ...]) -> Any:
        """An operator on numbers and arrays."""
        if name in CORE:
            return self.core(name, args)
        return getattr(self.below, name)(*args)

    def below_core(self, key: Any, args: tuple[Any, ...]) -> Any:
        """A core operation of constants: the level below may still follow it."""
        if isinstance(key, str):
            return getattr(self.below, key)(*args)
        return self.below.call(key, *args)

    def is_active(self, x: Any) -> bool:
        if type(x) in INERT:
            return False
        if is_number(x) or isinstance(x, np.ndarray):
            return self.slot(x) is not None
        if type(x) is FunctionType and not x.__closure__:
            return False
        if isinstance(x, BuiltinFunctionType):
            return x.__self__ is not None and self.is_active(x.__self__)
        return reaches(self, x, {})

    def structure(self, x: Any) -> Any:
        """One level of a container; None for a leaf."""
        level = structure((x.base,) if type(x) is np.flatiter else x)
        if (
            level is None
            and is_sparse(x)
            and any(map(self.is_active, vars(x).values()))
        ):
            refused("sparse")  # whose numbers were written with a derivative
        return level


for _name, _hook in OPERATORS.items():
    setattr(Run, _name, _hook)


def reaches(run: Run, x: Any, seen: dict[int, Any]) -> bool:
    """Whether something that a container holds carries a derivative."""
    if run.raw and id(x) in run.raw:
        return True
    if id(x) in seen:
        return False
    seen[id(x)] = x
    if type(x) is set or type(x) is frozenset:
        values: Any = x
    elif type(x) is slice:
        values = (x.start, x.stop, x.step)
    else:
        level = run.structure(x)
        if level is None:
            return False
        values = level.values
    for value in values:
        if type(value) in INERT:
            continue
        if is_number(value) or isinstance(value, np.ndarray):
            if run.slot(value) is not None:
                return True
        elif reaches(run, value, seen):
            return True
    return False
