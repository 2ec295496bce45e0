"""Every public name has an example that runs: in its docstring, or on a page."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FRONT_DOORS = (
    "rules_core",
    "rules_core.testing",
    "rules_core.extend",
    "rules_autodiff",
    "rules_autodiff.testing",
    "rules_jax",
    "rules_torch",
    "rules_numpy",
    "rules_scipy",
)
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shown_names():
    """The names in the code of the pages, which runs with the tests."""
    pages = [*DOCS.glob("*/*.md"), *DOCS.glob("*.md")]
    code = [
        block
        for page in pages
        if page.parent.name != "decisions"
        for block in CODE.findall(page.read_text(encoding="utf-8"))
    ]
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(code)))


SHOWN = shown_names()


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_every_public_name_has_an_example(door):
    module = importlib.import_module(door)
    values = {name: getattr(module, name) for name in module.__all__}
    bare = [
        name
        for name, value in values.items()
        if not isinstance(value, ModuleType)
        and name not in SHOWN
        and ">>>" not in (getattr(value, "__doc__", None) or "")
    ]
    assert bare == []


ERRORS = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_every_error_has_its_code_and_its_cure(door):
    module = importlib.import_module(door)
    values = {name: getattr(module, name) for name in module.__all__}
    errors = [n for n, v in values.items() if isinstance(v, type) and is_error(v)]
    assert [name for name in errors if not described(name)] == []


def is_error(cls):
    bases = {"RulesCoreError", "EngineError"}  # what they are is said of their classes
    return issubclass(cls, Exception) and cls.__name__ not in bases


def described(name):
    found = re.search(
        rf"^### `{name}`\n(.*?)(?=^##|\Z)", ERRORS, re.MULTILINE | re.DOTALL
    )
    return found and f"{name}: " in found[1] and "*Cure:*" in found[1]
