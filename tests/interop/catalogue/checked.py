"""One case of the catalogue: right, or refused in words that name the rule."""

from __future__ import annotations

from types import ModuleType

import numpy as np

import rules_core as rc
from tests.interop.catalogue import (  # noqa: F401  (some add styles, no more)
    arguments,
    complexes,
    in_engine,
    in_jax,
    in_torch,
    instances,
    pullbacks,
    results,
)
from tests.interop.catalogue.steps import Word
from tests.interop.catalogue.style import STYLES, Style

HOSTS: dict[str, ModuleType] = {"torch": in_torch, "jax": in_jax, "engine": in_engine}
OURS = (rc.RulesCoreError, rc.RuleSkippedWarning)

LEFT_OUT: dict[tuple[str, str], tuple[Word, str]] = {
    ("result transposed", "torch"): (
        ("forward_ad",),
        "PyTorch: the tangent of a view must be laid out as the view",
    ),
    ("result is the argument", "torch"): (
        ("forward_ad",),
        "PyTorch: the tangent of a view must be a view",
    ),
}
"""(style, host) → the transforms that are left out (none named: all), and why."""

for _title in STYLES:
    if _title.startswith(("array under", "NumPy scalar under")):
        LEFT_OUT[_title, "torch"] = (
            ("compiled",),
            "PyTorch: its guard on a NumPy array that a transform wraps fails at once",
        )


def left_out(style: Style, host: str, word: Word) -> bool:
    """Whether a fault is known that is not mended."""
    entry = LEFT_OUT.get((style.name, host))
    compiled = {"compiled"} if set(in_torch.COMPILED) & set(word) else set()
    return bool(entry and set(entry[0]) <= {*word, *compiled})


def refusal(error: BaseException | None) -> BaseException | None:
    """The error of ours that an error is, or that a compiler wrapped in its own."""
    while error is not None and not isinstance(error, OURS):
        error = error.__cause__ or getattr(error, "inner_exception", None)
    return error


def check(style: Style, host: str, word: Word) -> None:
    """Raise unless the result is that of the mathematics, or properly refused."""
    if left_out(style, host, word):
        return
    expected = np.asarray(in_torch.reference(word, style.plain))
    try:
        found = HOSTS[host].run(word, style.make())
    except Exception as error:
        cause = refusal(error)
        if not (cause and style.may_refuse(host, word) and "_" in str(cause)):
            raise
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
