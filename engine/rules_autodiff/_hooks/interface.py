"""What the parts of a run ask of each other; the modes implement the rest."""

from typing import Any, ClassVar

__all__ = ["Hooks"]


class Hooks:
    """The operations that the parts of a run have in common.

    `below` is the level that does the arithmetic: plain Python, or another run.
    """

    below: Any
    outside: list[Any]
    functions: dict[Any, Any]  # lifted functions of this run
    raw: dict[int, Any]  # bytes that were made of values with derivatives
    made: dict[int, Any]  # these, and texts and hashes
    failure: Exception | None  # the first error that is not the program's own
    mutating: Any  # the table of the mode's mutating rules
    kind: Any  # rrule or frule, the rule that the mode uses
    other_kind: Any
    config: ClassVar[Any]  # what a rule is given to call back into the engine

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`f(*args, **kwargs)`."""
        raise NotImplementedError

    def is_active(self, x: Any) -> bool:
        """Whether a derivative is carried by `x` or by something that it holds."""
        raise NotImplementedError

    def slot(self, x: Any) -> Any:
        """What the mode knows of a value; None for a constant."""
        raise NotImplementedError

    def numeric(self, name: str, args: tuple[Any, ...]) -> Any:
        """An operator on numbers and arrays."""
        raise NotImplementedError

    def core(self, key: Any, args: tuple[Any, ...]) -> Any:
        """An operation with a rule of the engine's own."""
        raise NotImplementedError

    def read_array(self, a: Any, key: Any) -> Any:
        """`a[key]` of an array."""
        raise NotImplementedError

    def write(self, dest: Any, key: Any, value: Any) -> None:
        """`dest[key] = value` of an array."""
        raise NotImplementedError

    def changing(self, container: Any) -> None:
        """Called before a list, dict or object changes."""
        raise NotImplementedError

    def reshape_in_place(self, a: Any, shape: Any) -> None:
        """`a.shape = shape` of an array that carries a derivative."""
        raise NotImplementedError

    def changing_flags(self, flags: Any) -> None:
        """Called before a flag of an array is set."""
        raise NotImplementedError

    def iter(self, iterable: Any) -> Any:
        """What a loop over `iterable` runs over."""
        raise NotImplementedError

    def note_append(self, owner: Any, item: Any) -> None:
        """Called before `owner.append(item)`."""
        raise NotImplementedError

    def note_item(self, owner: Any, key: Any) -> None:
        """Called before `owner[key] = …` of a list or dict."""
        self.changing(owner)

    def note_attribute(self, owner: Any, name: str) -> None:
        """Called before `owner.name = …`."""
        raise NotImplementedError

    def from_text(self, value: Any, f: Any = str, args: tuple[Any, ...] = ()) -> Any:
        """What a function of constants gave, which may have read it from a text."""
        raise NotImplementedError

    def construct(self, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A new instance of a user's class."""
        raise NotImplementedError

    def call_unseen(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call a function that nobody looks into."""
        raise NotImplementedError

    def by_protocol(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The result of a call by an argument's protocol, or NotImplemented."""
        raise NotImplementedError

    def as_entry(self, x: Any) -> Any:
        """The number or array that an object stands for."""
        raise NotImplementedError

    def beside_array(self, name: str, x: Any, y: Any) -> Any:
        """`x op y` of an array and an object that is no number."""
        raise NotImplementedError

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """`x op y`."""
        raise NotImplementedError

    def is_own_key(self, key: Any) -> bool:
        """Whether a key says which value with a derivative is meant."""
        raise NotImplementedError

    def is_followed(self, generator: Any) -> bool:
        """Whether a generator runs lifted code."""
        raise NotImplementedError

    def outer_items(self, generator: Any) -> Any:
        """The items of a generator of outside."""
        raise NotImplementedError

    def check_memo(self, table: Any, key: Any, value: Any) -> Any:
        """Called when an entry of a dict was found."""
        raise NotImplementedError

    def note_key(self, table: Any, key: Any) -> None:
        """Called when an entry of a dict is stored."""
        raise NotImplementedError

    def truth(self, x: Any) -> Any:
        """What a test looks at in place of `x`."""
        raise NotImplementedError

    def equal_numbers(self, x: Any, y: Any) -> None:
        """Called for numbers that were found equal."""
        raise NotImplementedError

    def equal_arrays(self, x: Any, y: Any) -> None:
        """Called for arrays that were found equal."""
        raise NotImplementedError

    def flat_getitem(self, items: Any, key: Any) -> Any:
        """`a.flat[key]`."""
        raise NotImplementedError

    def flat_setitem(self, items: Any, key: Any, value: Any) -> None:
        """`a.flat[key] = value`."""
        raise NotImplementedError

    def flat_items(self, items: Any) -> Any:
        """What a loop over `a.flat` runs over."""
        raise NotImplementedError

    def check_lent(self, f: Any, args: Any) -> None:
        """Called before a function in C, which may keep the memory of an array."""
        raise NotImplementedError

    def check_foreign(self, *objects: Any) -> None:
        """Called when objects are read that are no arrays."""
        raise NotImplementedError

    def same(self, one: Any, other: Any) -> bool:
        """`one is other or one == other`."""
        raise NotImplementedError

    def compare_parts(self, name: str, x: Any, y: Any) -> Any:
        """`x op y` of two lists or tuples."""
        raise NotImplementedError

    def check_finalizer(self, cls: Any, given: Any) -> None:
        """Called before an instance of a user's class is made."""
        raise NotImplementedError

    def equal_dicts(self, x: Any, y: Any) -> bool:
        """`x == y` of two dicts."""
        raise NotImplementedError

    def as_index(self, key: Any) -> Any:
        """An index, as `__index__` says."""
        raise NotImplementedError

    def check_key(self, key: Any) -> Any:
        """Called with the keys of dicts and sets."""
        raise NotImplementedError

    def comparison(self, name: str, x: Any, y: Any) -> Any:
        """`x op y` for a comparison."""
        raise NotImplementedError

    def entries(self, x: Any) -> Any:
        """What `dict(x)` takes."""
        raise NotImplementedError

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """`owner.name(*args, **kwargs)`."""
        raise NotImplementedError

    def contains(self, item: Any, container: Any) -> bool:
        """`item in container`."""
        raise NotImplementedError

    def check_buffer(self, view: Any) -> None:
        """Called when a memoryview is read."""
        raise NotImplementedError

    def mark(self, x: Any) -> Any:
        """Called for bytes that were made of values with derivatives."""
        raise NotImplementedError

    def note_made(self, x: Any) -> Any:
        """Called for texts and hashes that were made of such values."""
        raise NotImplementedError

    def joined(self, result: Any, *operands: Any) -> Any:
        """What an operator made of bytes."""
        raise NotImplementedError

    def stands_for(self, *given: Any) -> bool:
        """Whether values have a derivative, or were made of such."""
        raise NotImplementedError

    def rounded(self, x: Any) -> Any:
        """Called for what was rounded."""
        raise NotImplementedError

    def check_read(self, x: Any) -> None:
        """Called when bytes are taken apart."""
        raise NotImplementedError

    def item_of_bytes(self, owner: Any, key: Any) -> Any:
        """`owner[key]` of bytes."""
        raise NotImplementedError

    def equal_keys(self, x: Any, y: Any) -> None:
        """Called for keys of caches that were found equal."""
        raise NotImplementedError

    def check_found(self, item: Any, container: Any) -> None:
        """Called for a key that a list or tuple holds."""
        raise NotImplementedError

    def written(self, text: Any, *sources: Any) -> None:
        """Called when a text was made of some values."""
        raise NotImplementedError

    def number_attribute(self, x: Any, name: str) -> Any:
        """`.real`, `.imag` of a number, the views and methods of an array."""
        raise NotImplementedError

    def getattr(self, owner: Any, name: str) -> Any:
        """`owner.name`."""
        raise NotImplementedError

    def by_rule(self, found: Any, f: Any) -> Any:
        """Run a rule that was found, and note its derivative."""
        raise NotImplementedError

    def by_other_rule(self, found: Any, f: Any) -> Any:
        """The same with a rule for the other mode, transposed."""
        raise NotImplementedError

    def mutating_rule(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The result by a mutating rule, or NotImplemented where there is none."""
        raise NotImplementedError
