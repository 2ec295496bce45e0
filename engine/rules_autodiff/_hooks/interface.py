"""The interface of a run that the modules of its hooks use."""

from typing import Any, ClassVar, Protocol

__all__ = ["Hooks"]


class Hooks(Protocol):
    """A run: what it holds, and the hooks that a mode may override.

    `below` is the level that does the arithmetic: plain Python, or another run.
    """

    below: Any
    functions: dict[Any, Any]
    memo: dict[Any, Any]
    guards: dict[int, Any]  # what the mode knows of arrays, by the ids of their owners
    failure: Exception | None
    debug: bool
    met: str
    close: bool
    whole: bool
    read_early: str
    read_since: dict[int, Any]
    decides: bool
    older: Any
    program: Any
    skipped: dict[int, Any]
    holders: dict[int, Any]
    rebinds: bool
    read_ids: dict[Any, set[int]]
    texts: set[Any]
    keys: set[Any]
    raw: dict[int, Any]
    made: dict[int, Any]
    stored: dict[int, tuple[Any, set[int]]]
    exported: dict[int, tuple[Any, str]]
    outside: list[Any]
    copies: list[Any]
    flags: dict[int, tuple[Any, Any]]
    entered: Any  # lists of the arguments, with what the program received
    mutating: Any  # the table of the mode's mutating rules
    kind: Any  # rrule or frule, the rule that the mode uses
    other_kind: Any
    config: ClassVar[Any]  # what a rule is given to call back into the engine

    # what carries a derivative

    def found(self) -> None:
        """Called when the argument was found to be what the program knows."""

    def slot(self, x: Any) -> Any:
        """The slot or tangent of a value; None for a constant."""

    def is_active(self, x: Any) -> bool:
        """Whether a derivative is carried by `x` or by something that it holds."""

    def structure(self, x: Any) -> Any:
        """One level of a container; None for a leaf."""

    # operations

    def numeric(self, name: str, args: tuple[Any, ...]) -> Any:
        """An operator on numbers and arrays."""

    def core(self, key: Any, args: tuple[Any, ...]) -> Any:
        """An operation with a rule of the engine's own."""

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """`x op y`."""

    def unary(self, name: str, x: Any) -> Any:
        """`op x`."""

    def comparison(self, name: str, x: Any, y: Any) -> Any:
        """`x op y` for a comparison."""

    def inplace(self, name: str, x: Any, y: Any) -> Any:
        """`x op= y`."""

    def truth(self, x: Any) -> Any:
        """The value that a test takes in place of `x`."""

    # calls

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`f(*args, **kwargs)`."""

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """`owner.name(*args, **kwargs)`."""

    def call_native(self, f: Any, args: Any, kwargs: Any) -> Any:
        """A call of a ufunc, another NumPy function, or a function in C."""

    def derive(self, f: Any) -> Any:
        """The lifted form of a program, with its hooks bound to this run."""

    def call_opaque(self, f: Any, args: Any, kwargs: Any) -> Any:
        """A call of a function whose code is not lifted."""

    def has_rules(self, f: Any) -> bool:
        """Whether a function has rules, for whatever types."""

    def opted_out(self, f: Any, args: Any) -> bool:
        """Whether a function opted out of rules of the mode's kind."""

    def by_rule(self, found: Any, f: Any) -> Any:
        """Run a rule that was found, and note its derivative."""

    def by_other_rule(self, found: Any, f: Any) -> Any:
        """Call a rule of the other mode, transposed."""

    def mutating_rule(self, f: Any, args: Any, kwargs: Any) -> Any:
        """The result by a mutating rule, or NotImplemented where there is none."""

    def from_text(self, value: Any, f: Any = str, args: tuple[Any, ...] = ()) -> Any:
        """The result of a function of constants, which may have read it from a text."""

    # access

    def getattr(self, owner: Any, name: str) -> Any:
        """`owner.name`."""

    def getitem(self, owner: Any, key: Any) -> Any:
        """`owner[key]`."""

    def iter(self, iterable: Any) -> Any:
        """The iterable that a loop over `iterable` takes."""

    def array_items(self, a: Any) -> Any:
        """The items of an array, one by one."""

    def unpack(self, value: Any, pattern: Any) -> Any:
        """`value` with what the pattern takes apart made of items to be followed."""

    def entries(self, x: Any) -> Any:
        """The argument of `dict(x)`."""

    def read_array(self, a: Any, key: Any) -> Any:
        """`a[key]` of an array."""

    # changes

    def write(self, dest: Any, key: Any, value: Any) -> None:
        """`dest[key] = value` of an array."""

    def reshape_in_place(self, a: Any, shape: Any) -> None:
        """`a.shape = shape` of an array that carries a derivative."""

    def changing(self, container: Any) -> None:
        """Called before a list, dict or object changes."""

    def note_append(self, owner: Any, item: Any) -> None:
        """Called before `owner.append(item)`."""

    def note_item(self, owner: Any, key: Any) -> None:
        """Called before `owner[key] = …` of a list or dict."""

    def note_attribute(self, owner: Any, name: str) -> None:
        """Called before `owner.name = …`."""

    @property
    def changes(self) -> Any:
        """True in a test if the run has written to anything."""

    @property
    def written_ids(self) -> set[int]:
        """The ids of what the run has written to, arrays by their owners."""

    def progress(self) -> int:
        """The present moment of the run, for `written_since`."""

    def written_since(self, progress: int) -> set[int]:
        """The ids of what was written to later, arrays by their owners."""

    def hold_writes(self) -> Any:
        """From here on what is written puts back what was there before."""

    def release_writes(self, mark: Any) -> None:
        """Up to here, from where `hold_writes` gave `mark`."""
