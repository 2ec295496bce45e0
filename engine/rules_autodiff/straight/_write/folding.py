"""Folding of temporary names into the expressions that use them.

A step gives its result a name. If the name has one use, it is folded: the array is
freed as early as in the user's own expression, and the code reads like it.
"""

import re

__all__ = ["folded"]

Lines = list[tuple[str, int]]

DEFINED = re.compile(r"( *)(__\d+) = (.*)")
COPIED = re.compile(r" *__k\d+ = ")
TEMPORARY = re.compile(r"(?<!\w)__\d+\b")  # not an entry of a tuple: t__0
QUOTED = re.compile(r"['\"]")
SIMPLE = re.compile(r" *(?!for |while |if |else|try|with |def )")


def folded(lines: Lines) -> Lines:
    """These lines with fewer names; each line with its number in the user's file."""
    counts: dict[str, int] = {}
    for text, _ in lines:
        for name in TEMPORARY.findall(text):
            counts[name] = counts.get(name, 0) + 1
    folding = Folding(counts)
    for text, line in lines:
        folding.take(text, line)
    folding.flush()
    return folding.lines


class Folding:
    """Processes lines in order; a line that only defines a name waits for its use."""

    def __init__(self, counts: dict[str, int]):
        self.counts = counts
        self.lines: Lines = []
        self.waiting: dict[str, tuple[str, str, int]] = {}  # indent, text, line

    def take(self, text: str, line: int) -> None:
        used = [name for name in TEMPORARY.findall(text) if name in self.waiting]
        if COPIED.match(text) and not used:  # independent of the waiting lines
            self.lines.append((text, line))
            return
        if self.is_apart(text):
            self.flush()
            self.lines.append((text, line))
            return
        match = DEFINED.fullmatch(text)
        if match and self.counts[match[2]] == 2:
            waiting = {name: self.waiting.pop(name) for name in used}
            self.waiting[match[2]] = match[1], filled(match[3], waiting), line
            return
        waiting = {name: self.waiting.pop(name) for name in used}
        if not match:
            self.flush()  # before anything changes
        self.lines.append((filled(text, waiting), line))

    def is_apart(self, text: str) -> bool:
        """Whether nothing is folded into a line: heads, strings, ends of branches."""
        indents = [len(indent) for indent, _, _ in self.waiting.values()]
        other = any(n != len(text) - len(text.lstrip()) for n in indents)
        return other or not SIMPLE.match(text) or bool(QUOTED.search(text))

    def flush(self) -> None:
        """Emit the waiting lines."""
        for name, (indent, text, line) in self.waiting.items():
            self.lines.append((f"{indent}{name} = {text}", line))
        self.waiting.clear()


def filled(text: str, waiting: dict[str, tuple[str, str, int]]) -> str:
    """A line with its names replaced."""
    if not waiting:
        return text
    return TEMPORARY.sub(
        lambda found: waiting[found[0]][1] if found[0] in waiting else found[0], text
    )
