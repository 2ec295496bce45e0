"""Tables of results, by parts: a *key*, a *look-up* and a *home* of the dict."""

import textwrap

from tests.engine.cache_programs import CUBE, FIRST, HEAD, Program

__all__ = ["HOMES", "KEYS", "LOOKUPS", "looked_up"]

# Keys of tables, and what is kept.
KEYS = {
    "number": ("x[0]", FIRST),
    "tuple": ("tuple(x.tolist())", CUBE),
    "tuple of numbers": ("tuple(x)", CUBE),
    "bytes": ("x.tobytes()", CUBE),
    "hash": ("hash(x.tobytes())", CUBE),
    "hash of number": ("hash(x[0])", FIRST),
    "whole": ("int(x[0] * 1e6)", FIRST),
    "rounded": ("round(x[0] * 1e6)", FIRST),
    "rounded digits": ("round(x[0], 6)", FIRST),
    "rounded array": ("tuple(np.round(x, 6))", CUBE),
    "whole array": ("tuple(np.round(x * 1e6).astype(int))", CUBE),
    "whole bytes": ("np.round(x * 1e6).astype(int).tobytes()", CUBE),
    "truncated": ("tuple((x * 1e6).astype(int).tolist())", CUBE),
    "floor": ("math.floor(x[0] * 1e6)", FIRST),
    "floor of array": ("tuple(np.floor(x * 1e6))", CUBE),
    "floor division": ("x[0] // 1e-6", FIRST),
    "text": ("f'{x[0]:.9f}'", FIRST),
    "str": ("str(x[0])", FIRST),
    "repr": ("repr(x.tolist())", CUBE),
    "new number": ("np.exp(x[0])", FIRST),
    "new tuple": ("(x[0] / 2, x[1] * 3, x[2])", CUBE),
    "named": ("('cube', x[0])", FIRST),
}
LOOKUPS = {
    "function": """
        def program(x):
            {g}
            key = {key}
            if key not in {d}:
                {d}[key] = lambda: {value}
            return {d}[key]() + np.sum(x)
        """,
    "partial": """
        def program(x):
            {g}
            key = {key}
            if key not in {d}:
                {d}[key] = partial(np.multiply, {value})
            return {d}[key](1.0) + np.sum(x)
        """,
    "attribute": """
        def program(x):
            {g}
            name = 'v' + str({key})
            if not hasattr(Slots, name):
                setattr(Slots, name, {value})
            return getattr(Slots, name) + np.sum(x)
        """,
    "weak keys": """
        NAMES, KEPT = {{}}, WeakKeyDictionary()
        def program(x):
            {g}
            name = NAMES.setdefault({key}, Box())
            if name not in KEPT:
                KEPT[name] = {value}
            return KEPT[name] + np.sum(x)
        """,
    "in": """
        def program(x):
            {g}
            key = {key}
            if key not in {d}:
                {d}[key] = {value}
            return {d}[key] + np.sum(x)
        """,
    "get": """
        def program(x):
            {g}
            key = {key}
            v = {d}.get(key)
            if v is None:
                v = {d}[key] = {value}
            return v + np.sum(x)
        """,
    "exception": """
        def program(x):
            {g}
            key = {key}
            try:
                return {d}[key] + np.sum(x)
            except KeyError:
                v = {d}[key] = {value}
                return v + np.sum(x)
        """,
    "setdefault": """
        def program(x):
            {g}
            return {d}.setdefault({key}, {value}) + np.sum(x)
        """,
    "lists": """
        def program(x):
            {g}
            row = {d}.setdefault({key}, [])
            if not row:
                row.append({value})
            return row[0] + np.sum(x)
        """,
    "decorator": """
        def cached(f):
            def call(x):
                {g}
                key = {key}
                if key not in {d}:
                    {d}[key] = f(x)
                return {d}[key]
            return call
        @cached
        def computed(x):
            return {value}
        def program(x):
            return computed(x) + np.sum(x)
        """,
    "known set": """
        KNOWN, LAST = set(), Box()
        def program(x):
            {g}
            key = {key}
            if key not in {d}:
                {d}.clear()
                {d}[key] = 1
                LAST.v = {value}
            return LAST.v + np.sum(x)
        """,
    "pairs": """
        PAIRS = []
        def program(x):
            key = {key}
            for known, v in PAIRS:
                if known == key:
                    return v + np.sum(x)
            PAIRS.append((key, {value}))
            return PAIRS[-1][1] + np.sum(x)
        """,
    "first that fits": """
        PAIRS = []
        def program(x):
            key = {key}
            v = next((v for known, v in PAIRS if known == key), None)
            if v is None:
                v = {value}
                PAIRS.append((key, v))
            return v + np.sum(x)
        """,
    "two lists": """
        POINTS, VALUES = [], []
        def program(x):
            key = {key}
            if key in POINTS:
                return VALUES[POINTS.index(key)] + np.sum(x)
            POINTS.append(key)
            VALUES.append({value})
            return VALUES[-1] + np.sum(x)
        """,
}
HOMES = {
    "global": ("D = {}", "pass", "D"),
    "attribute": ("OBJ = Box(); OBJ.d = {}", "pass", "OBJ.d"),
    "class": ("Box.d = {}", "pass", "Box.d"),
    "ordered": ("D = OrderedDict()", "pass", "D"),
    "subclass": ("class Table(dict):\n    pass\nD = Table()", "pass", "D"),
    "user dict": ("D = UserDict()", "pass", "D"),
    "own": (
        "class Table:\n"
        "    def __init__(self):\n        self.kept = {}\n"
        "    def __contains__(self, key):\n        return key in self.kept\n"
        "    def __getitem__(self, key):\n        return self.kept[key]\n"
        "    def __setitem__(self, key, value):\n        self.kept[key] = value\n"
        "    def get(self, key):\n        return self.kept.get(key)\n"
        "    def clear(self):\n        self.kept.clear()\n"
        "    def setdefault(self, key, value):\n"
        "        return self.kept.setdefault(key, value)\n"
        "D = Table()", "pass", "D",
    ),
    "row": ("D = {'row': {}}", "pass", "D['row']"),
    "function": ("def holder():\n    pass\nholder.d = {}", "pass", "holder.d"),
}  # fmt: skip


def looked_up(home: str, key: str, lookup: str) -> Program:
    """A program with a table of results."""
    preamble, declared, d = HOMES[home]
    text, value = KEYS[key]
    parts = {"g": declared, "d": d, "key": text, "value": value}
    body = textwrap.dedent(LOOKUPS[lookup]).format(**parts)
    return Program(f"{HEAD}\n{preamble}\n{body}", value)
