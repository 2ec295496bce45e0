"""Generators that were started outside: their code is not lifted.

Their operations are not seen. They may go on as long as they hold constants alone,
which is checked each time.
"""

from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.lifted_code import hooks_of, is_lifted_code
from rules_autodiff._python.opaque import is_opaque_module
from rules_autodiff._refusals import LIFTED, refused

from .interface import Hooks

__all__ = ["check_generator", "is_followed", "outer_items"]


def is_followed(run: Hooks, generator: Any) -> bool:
    """Whether a generator runs lifted code, or code that only moves objects."""
    frame = generator.gi_frame
    if frame is None:
        return True
    if is_lifted_code(generator.gi_code):  # by this run, or by one below it
        return hooks_of(generator) in (None, run)
    name = frame.f_globals.get("__name__", "")
    return name.startswith("rules_autodiff.") or is_opaque_module(name)


def check_generator(run: Hooks, generator: Any, *sent: Any) -> None:
    """Check a generator before it goes on: one from outside holds constants alone."""
    if is_followed(run, generator):
        return
    frame = generator.gi_frame
    held = [frame.f_globals.get(name) for name in generator.gi_code.co_names]
    if run.is_active([*frame.f_locals.values(), *held, *sent]):
        refused("generator", generator.__qualname__.removeprefix(LIFTED))


def outer_items(run: Hooks, generator: Any) -> Iterator[Any]:
    while True:
        check_generator(run, generator)
        try:
            item = next(generator)
        except StopIteration:
            return
        yield item


def resuming(method: Any) -> Callable[..., Any]:
    """A method by which a generator goes on."""

    def handle(run: Any, generator: Any, *args: Any) -> Any:
        check_generator(run, generator, *args)
        return method(generator, *args)

    return handle


for _resume in (GeneratorType.send, GeneratorType.throw, GeneratorType.__next__):
    HANDLERS[_resume] = resuming(_resume)
