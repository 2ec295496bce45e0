"""Ways by which a function reads a number, that a program changes later.

`ways_of_reading.txt` has them: how the program begins, the expression that reads 2,
statements after which it reads 3, and those that bring 2 back where what was changed
belongs to the process. `o` is an instance of a class with an attribute `k`.
"""

import linecache
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

TEXT = Path(__file__).with_suffix(".txt").read_text()
START = """
import numpy as np
class O:
    kk = 2
    def __init__(s): s.k = 2
    def get(s): return s.k
o = O()
"""
END = """
def f(t, a):
    k = {read}
    return (a * t) ** k
def change():
    {change}
def undo():
    {undo}
"""
OTHER = "k = 2\ndef getk(): return k\n"


def _parsed(block):
    setup, read, change, *undo = block.split("\n--- ")
    name, _, setup = setup.partition("\n")
    given = {"read": read, "change": change, "undo": undo[0] if undo else "pass"}
    lines = {key: text.replace("; ", "\n    ").strip() for key, text in given.items()}
    return name, START + setup + END.format(**lines)


WAYS = dict(_parsed(block.strip()) for block in TEXT.split("=== ")[1:])
# One of each kind.
CHOSEN = (
    "clsmeth", "typeself", "super", "instcls", "helper_cls", "registrycls", "decocls",
    "metaprop", "classgetitem", "subclasses", "vectorize", "builtin", "fncode",
    "errstate", "decimalctx", "environ", "file by path", "configparser", "genstate",
    "ctypes", "memview", "npflag", "poly1d", "sparsesum", "dictvalues", "kdtree",
)  # fmt: skip
# Variables that functions capture, which are put back.
CAPTURED = ("closurefac", "cellcontents")


@contextmanager
def program(name, folder):
    """The function of a way and what changes the number, in modules of their own."""
    modules = {"way_of_reading": WAYS[name], "othermod": OTHER}
    made = {}
    for module in modules:
        made[module] = sys.modules[module] = ModuleType(module)
        vars(made[module])["__file__"] = str(folder / f"{module}.py")
    try:
        for module in reversed(modules):
            path = folder / f"{module}.py"
            path.write_text(modules[module])
            exec(compile(modules[module], path, "exec"), vars(made[module]))
        found = made["way_of_reading"]
        if name == "selfattr":
            found.f.k = 2
        linecache.checkcache()
        yield found.f, found.change
    finally:
        if hasattr(made["way_of_reading"], "undo"):
            made["way_of_reading"].undo()
        for module in modules:
            del sys.modules[module]
