"""No class of ours is a tower: it has parts, and does not inherit them.

A method counts once for a class, wherever over the bases it stands. What is inherited
from outside of our packages does not count, nor do the entries of a table of hooks:
they name functions that stand elsewhere.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "rules_core": ROOT,
    "rules_autodiff": ROOT / "engine",
    "rules_numpy": ROOT / "engine",
    "rules_scipy": ROOT / "engine",
    "rules_jax": ROOT / "adapters",
    "rules_torch": ROOT / "adapters",
}
MOST = 60


@cache
def known(module: str) -> dict[str, ast.ClassDef | tuple[str, str]]:
    """The classes of one of our modules, and where those are that it imports."""
    path = PACKAGES[module.partition(".")[0]].joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found: dict[str, ast.ClassDef | tuple[str, str]] = {}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            above = parts[: len(parts) - node.level + path.is_dir()]
            named = [node.module] if node.module else []
            home = ".".join([*above, *named] if node.level else named)
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, (home, alias.name))
    return found


def definition(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """The class that a module knows by a name, if it is one of ours."""
    found = known(module).get(name)
    if isinstance(found, tuple):
        ours = found[0].partition(".")[0] in PACKAGES
        return definition(*found) if ours else None
    return (module, found) if found else None


def methods(module: str, node: ast.ClassDef) -> set[str]:
    """The methods that a class and its bases write down."""
    own = {d.name for d in node.body if isinstance(d, ast.FunctionDef)}
    bases = [b.value if isinstance(b, ast.Subscript) else b for b in node.bases]
    for base in bases:
        if isinstance(base, ast.Name):
            found = definition(module, base.id)
            own |= methods(*found) if found and found[1] is not node else set()
    return own


@cache
def classes() -> dict[str, int]:
    """How many methods each class has."""
    counts = {}
    for package, root in PACKAGES.items():
        for file in sorted((root / package).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            for name, node in known(module).items():
                if isinstance(node, ast.ClassDef):
                    counts[f"{module}.{name}"] = len(methods(module, node))
    return counts


def test_no_class_is_a_tower():
    towers = {name: count for name, count in classes().items() if count > MOST}
    assert towers == {}


def test_the_methods_of_bases_are_counted():
    class_of = "rules_core._tangents.thunks.Thunk"
    own = definition("rules_core._tangents.thunks", "Thunk")[1]
    written = [d for d in own.body if isinstance(d, ast.FunctionDef)]
    assert classes()[class_of] > len(written)
