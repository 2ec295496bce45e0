"""Arguments that are containers: their leaves, and cotangents in their form."""

from collections.abc import Iterator

from rules_autodiff.straight._program.kinds import Kind, leaf_kinds

__all__ = ["active_leaves", "unpacking"]


def active_leaves(kinds: tuple[Kind, ...], active: tuple[int, ...]) -> tuple[int, ...]:
    """The differentiated leaves of arguments; others are constants."""
    places, count = [], 0
    for place, kind in enumerate(kinds):
        parts = leaf_kinds(kind) if kind.dtype == "entries" else [kind]
        if place in active:
            places += [count + i for i, leaf in enumerate(parts) if leaf.is_real]
        count += len(parts)
    return tuple(places)


def unpacking(
    name: str, kinds: tuple[Kind, ...], active: tuple[int, ...]
) -> tuple[str, str]:
    """Functions of the user's arguments, around those of leaves.

    Args:
        name: The name of the function of leaves.
        kinds: The kinds of the arguments.
        active: The positions of the arguments with cotangents.

    Returns:
        The function's name, its text and that of its backward function.
    """
    names = [f"a{i}" for i in range(len(kinds))]
    pairs = [*zip(names, kinds, strict=True)]
    texts = [text for own, kind in pairs for text in leaf_texts(own, kind)]
    count = len(active_leaves(kinds, active))
    cotangents = [f"c{i}" for i in range(count)]
    leaves = iter(cotangents)
    rows = [cotangent_text(kinds[place], leaves) for place in active]
    lines = [
        f"def {name}_top({', '.join([*names, 'caps'])}):",
        f"    return {name}({', '.join([*texts, 'caps'])})",
        "",
        f"def {name}_top_back(kept, dy):",
        f"    {as_tuple(cotangents)} = {name}_back(kept, dy)",
        f"    return {as_tuple(rows)}",
    ]
    return f"{name}_top", "\n".join(lines)


def leaf_texts(own: str, kind: Kind) -> list[str]:
    """The texts of all leaves of an argument."""
    if kind.dtype != "entries":
        return [own]
    pairs = zip(kind.tag or range(len(kind.parts)), kind.parts, strict=True)
    return [t for key, part in pairs for t in leaf_texts(f"{own}[{key!r}]", part)]


def cotangent_text(kind: Kind, leaves: Iterator[str]) -> str:
    """The cotangents of an argument as tuples in its form; None if there are none."""
    if kind.dtype == "entries":
        return as_tuple([cotangent_text(part, leaves) for part in kind.parts])
    return next(leaves) if kind.is_real else "None"


def as_tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
