"""Instances that a program makes itself: a variable for each attribute.

An instance is known by one name while it changes. A method that changes it returns its
attributes beside its value.
"""

import ast
from abc import ABCMeta
from dataclasses import replace
from types import FunctionType
from typing import Any

from rules_autodiff._lift.source import definition
from rules_autodiff._python.errors import SourceNotFound
from rules_autodiff._python.opaque import is_opaque, is_opaque_module
from rules_autodiff.straight._guard.captures import Method, Place
from rules_autodiff.straight._guard.class_entries import MISSING, entry
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import (
    Attributes,
    Known,
    Partial,
    Value,
    function_value,
    with_entries,
)
from rules_core import frule, rrule

from .part import Part
from .rule_calls import has_rules

__all__ = ["Objects", "changes_itself"]

USUAL = ("__new__", "__setattr__", "__getattribute__", "__delattr__")
UNUSUAL = ("__getattr__", "__del__")


class Objects(Part):
    """Reads what makes and changes instances."""

    def construct(self, f: Known, node: ast.Call) -> Value | None:
        """`Class(…)`; None for other classes than those of programs."""
        cls = f.value
        if not isinstance(cls, type) or is_opaque_module(cls.__module__):
            return None
        self.check_class(f, node)
        made = with_entries(Kind("object", tag=Attributes(f)), [])
        init = cls.__init__  # type: ignore[misc]  # of the class
        values, named = self.reader.own_calls.given(node)
        if init is object.__init__:
            if values or named:
                refuse("an instance is made with arguments that it does not take", node)
            return replace(made, fresh=True)
        known = self.reader.captures.found(init, Place(f.place, "{}.__init__"))
        if not isinstance(known, Known) or type(init) is not FunctionType:
            refuse("an instance is made in such a way", node)
        check_source(cls, init, node)
        _, made = self.changed(known, made, values, named, node)
        return replace(made, fresh=True)

    def check_class(self, f: Known, node: ast.AST) -> None:
        """See that instances are made and kept as usual, now and later."""
        cls, captures = f.value, self.reader.captures
        usual = all(getattr(cls, name) is getattr(object, name) for name in USUAL)
        unusual = any(hasattr(cls, name) for name in UNUSUAL)
        unusual = unusual or any(vars(c).get("__slots__") for c in cls.__mro__)
        if (
            not usual
            or unusual
            or type(cls) not in (type, ABCMeta)
            or has_rules(cls, rrule, frule)
        ):
            refuse(f"instances of {cls.__qualname__} are of a kind of their own", node)
        if getattr(cls, "__abstractmethods__", None) or issubclass(cls, BaseException):
            refuse(f"instances of {cls.__qualname__} are not made", node)
        own = captures.name_of(f.place)
        for name in USUAL:
            text = captures.constant(name, getattr(object, name))
            captures.forbid(f"{own}.{name} is not {text}")
        for name in UNUSUAL:
            captures.forbid(f"hasattr({own}, {name!r})")

    # attributes

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Any:
        """`owner.name`."""
        attributes: Attributes = owner.kind.tag
        if name in attributes.names:
            entries = self.reader.variables.entries_of(owner)
            return entries[attributes.names.index(name)]
        found = self.of_class(attributes.cls, name, node)
        if not isinstance(found, Method):
            known = isinstance(found, Known)
            return found if known else self.reader.captured_value(name, *found)
        function = function_value(found.function)
        if found.is_property:
            self.check_unchanging(owner, found.function, node)
            return self.reader.own_calls.invoke(function, [owner], {}, node)
        return with_entries(Kind("function", tag=Partial(())), [function, owner])

    def of_class(self, cls: Known, name: str, node: ast.AST) -> Any:
        """An attribute of the class: a method, or a result of `Captures.found`."""
        captures = self.reader.captures
        raw = entry(cls.value, name)
        captures.expect_entry(captures.name_of(cls.place), name, raw)
        if type(raw) is property and type(raw.fget) is FunctionType:
            place = Place(cls.place, f"{{}}.{name}.fget")
            return Method(captures.found(raw.fget, place), True)
        found = captures.found
        if type(raw) is FunctionType:
            return Method(found(raw, Place(cls.place, f"{{}}.{name}")))
        if raw is MISSING or (hasattr(type(raw), "__get__") and not is_static(raw)):
            refuse(f"the attribute {name} of an instance is not known", node)
        return found(getattr(cls.value, name), Place(cls.place, f"{{}}.{name}"))

    def store(self, target: ast.Attribute, value: Value) -> None:
        """`name.attribute = value`."""
        reader = self.reader
        if not isinstance(target.value, ast.Name):
            refuse("only named instances are changed", target)
        name = target.value.id
        self.own(name, target)
        attributes: Attributes = reader.kinds[name].tag
        self.check_stored(attributes.cls, target.attr, target)
        names = attributes.names
        if target.attr not in names:
            names = (*names, target.attr)
        reader.variables.assign(f"{name}__{names.index(target.attr)}", value)
        reader.locals.update(f"{name}__{i}" for i in range(len(names)))
        parts = tuple(reader.kinds[f"{name}__{i}"] for i in range(len(names)))
        tag = replace(attributes, names=names)
        reader.kinds[name] = Kind("object", dtype="entries", parts=parts, tag=tag)

    def check_stored(self, cls: Known, name: str, node: ast.AST) -> None:
        """See that an attribute is stored in the instance, now and later."""
        captures, raw = self.reader.captures, entry(cls.value, name)
        if hasattr(type(raw), "__set__") or hasattr(type(raw), "__get__"):
            refuse(f"the attribute {name} is computed", node)
        own = captures.name_of(cls.place)
        if raw is MISSING:
            captures.forbid(f"hasattr({own}, {name!r})")
        else:
            captures.expect_entry(own, name, raw)

    def own(self, name: str, node: ast.AST) -> None:
        """See that an instance is known by one name, as it changes."""
        reader = self.reader
        if name not in reader.facts.changing:
            reader.facts.changing.add(name)
            reader.facts.changed = True
        kind = reader.kinds.get(name)
        if name not in reader.locals or kind is None or kind.name != "object":
            refuse(f"{name}, whose attributes are assigned, is not made here", node)
        if name not in reader.owned:
            refuse(f"{name}, which is changed, may be seen by another way", node)

    # methods

    def method_call(self, node: ast.Call) -> Value | None:
        """`name.method(…)` of an instance that it may change."""
        reader, f = self.reader, node.func
        assert isinstance(f, ast.Attribute)
        if is_super(f.value):
            return self.super_call(f, node)
        if not isinstance(f.value, ast.Name) or f.value.id not in reader.locals:
            return None
        kind = reader.kinds.get(f.value.id)
        if kind is None or kind.name != "object" or f.attr in kind.tag.names:
            return None
        found = self.of_class(kind.tag.cls, f.attr, node)
        if not isinstance(found, Method) or found.is_property:
            return None
        if not changes_itself(kind.tag.cls.value, found.function.value):
            return None
        return self.changing_call(f.value.id, found.function, node)

    def changing_call(self, name: str, method: Known, node: ast.Call) -> Value:
        """A call of a method that changes the instance of a name."""
        self.own(name, node)
        values, named = self.reader.own_calls.given(node)
        owner = replace(self.reader.variables.variable(name), unstable=False)
        value, made = self.changed(method, owner, values, named, node)
        self.reader.variables.assign(name, replace(made, fresh=True))
        return value

    def changed(
        self, f: Known, owner: Value, values: list[Value], named: Any, node: ast.AST
    ) -> tuple[Value, Value]:
        """The value of a method, and the instance as the method leaves it."""
        if is_opaque(f.value) or has_rules(f.value, rrule, frule):
            refuse("a method with rules changes an instance", node)
        found = self.reader.own_calls.invoke_changing(f, [owner, *values], named, node)
        value, made = found.entries or ()
        return value, made

    def super_call(self, f: ast.Attribute, node: ast.Call) -> Value:
        """`super().method(…)`, of the instance that the function is given."""
        reader = self.reader
        code = reader.function.__code__
        first = code.co_varnames[0] if code.co_argcount else ""
        kind = reader.kinds.get(first)
        if kind is None or kind.name != "object" or "__class__" not in code.co_freevars:
            refuse("super() of such an instance", node)
        cell = (reader.function.__closure__ or ())[code.co_freevars.index("__class__")]
        order = kind.tag.cls.value.__mro__
        start = order.index(cell.cell_contents) + 1
        places = [i for i in range(start, len(order)) if f.attr in vars(order[i])]
        if not places:
            refuse(f"super() has no {f.attr}", node)
        raw = vars(order[places[0]])[f.attr]
        if raw is object.__init__ and not (node.args or node.keywords):
            return Value("None", Kind("none"), constant=None, atom=True)
        if type(raw) is not FunctionType:
            refuse(f"the attribute {f.attr} of super()", node)
        classes = reader.captures.constant("order", order)
        own = reader.captures.name_of(kind.tag.cls.place)
        reader.captures.forbid(f"{own}.__mro__ != {classes}")
        for i in range(start, places[0]):
            reader.captures.forbid(f"{f.attr!r} in {own}.__mro__[{i}].__dict__")
        access = f"{{}}.__mro__[{places[0]}].__dict__[{f.attr!r}]"
        known = reader.captures.found(raw, Place(kind.tag.cls.place, access))
        if changes_itself(kind.tag.cls.value, raw):
            return self.changing_call(first, known, node)
        values, named = reader.own_calls.given(node)
        owner = reader.variables.variable(first)
        function = function_value(known)
        return reader.own_calls.invoke(function, [owner, *values], named, node)

    def check_unchanging(self, owner: Value, f: Known, node: ast.AST) -> None:
        if changes_itself(owner.kind.tag.cls.value, f.value):
            refuse("a property changes its instance", node)


def is_static(raw: Any) -> bool:
    return type(raw) is staticmethod


def is_super(node: ast.AST) -> bool:
    """Whether an expression is `super()`."""
    called = node.func if isinstance(node, ast.Call) else None
    named = isinstance(called, ast.Name) and called.id == "super"
    return named and isinstance(node, ast.Call) and not node.args


def changes_itself(
    cls: type, f: FunctionType, seen: frozenset[FunctionType] = frozenset()
) -> bool:
    """Whether a method may assign attributes of its instance."""
    if f in seen or not f.__code__.co_argcount:
        return False
    try:
        node = definition(f.__code__).node
    except SourceNotFound:
        return True
    first, seen = f.__code__.co_varnames[0], seen | {f}
    for part in ast.walk(node):
        if not isinstance(part, ast.Attribute):
            continue
        own = isinstance(part.value, ast.Name) and part.value.id == first
        if own and not isinstance(part.ctx, ast.Load):
            return True
        if own or is_super(part.value):
            bases = cls.__mro__[1:] if is_super(part.value) else cls.__mro__
            held = [vars(c)[part.attr] for c in bases if part.attr in vars(c)]
            methods = [g for g in held if type(g) is FunctionType]
            if any(changes_itself(cls, g, seen) for g in methods):
                return True
    return False


def check_source(cls: type, init: FunctionType, node: ast.AST) -> None:
    """See that code which fills an instance can be read: not that of a dataclass."""
    try:
        definition(init.__code__)
    except SourceNotFound:
        what = f"the __init__ of {cls.__qualname__} has no source code"
        refuse(f"{what}, as that of a dataclass: define it in the class", node)
