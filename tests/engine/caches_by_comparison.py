"""Caches that compare the argument with the last one, by parts.

A program is the product of a *place* (where the point and the result are kept), a
*test* (how it sees that the argument is the last one) and a *form* (how the answer
decides between the result and computing it anew).
"""

import textwrap

from tests.engine.cache_programs import CUBE, FIRST, HEAD, Program

__all__ = ["FORMS", "PLACES", "TESTS", "compared", "is_seen"]

# Places: preamble, statement in each function, point, value, flag.
PLACES = {
    "attribute": ("OBJ = Box()", "", "OBJ.k", "OBJ.v", "OBJ.f"),
    "global": ("K = V = F = None", "global K, V, F", "K", "V", "F"),
    "closure": ("K = V = F = None", "nonlocal K, V, F", "K", "V", "F"),
    "dict": ("D = dict(k=None, v=None, f=None)", "", "D['k']", "D['v']", "D['f']"),
    "list": ("L = [None, None, None]", "", "L[0]", "L[1]", "L[2]"),
    "class": ("", "", "Box.k", "Box.v", "Box.f"),
    "type": ("OBJ = Box()", "", "type(OBJ).k", "type(OBJ).v", "OBJ.f"),
    "slots": ("OBJ = Slots()", "", "OBJ.k", "OBJ.v", "OBJ.f"),
    "inner": ("OBJ = Box(); OBJ.sub = Box()", "", "OBJ.sub.k", "OBJ.sub.v", "OBJ.f"),
    "property": ("OBJ = Hidden()", "", "OBJ.k", "OBJ.v", "OBJ.f"),
    "own items": ("D = Own()", "", "D['k']", "D['v']", "D['f']"),
    "user dict": (
        "D = UserDict(k=None, v=None, f=None)", "", "D['k']", "D['v']", "D['f']"
    ),
    "pair": ("OBJ = Box()", "", "OBJ.p[0]", "OBJ.p[1]", "OBJ.f"),
    "record": ("OBJ = Box()", "", "OBJ.p.k", "OBJ.p.v", "OBJ.f"),
    "vars": ("OBJ = Box()", "", "vars(OBJ)['k']", "vars(OBJ)['v']", "OBJ.f"),
    "setattr": ("OBJ = Box()", "", "OBJ.k", "OBJ.v", "OBJ.f"),
    "array": ("L = [None, None]; V = np.zeros(1)", "", "L[0]", "V.sum()", "L[1]"),
    "array by out": (
        "L = [None, None]; V = np.zeros(1)", "", "L[0]", "V @ ONE", "L[1]"
    ),
    "view": ("L = [None, None]; V = np.zeros((1, 1))", "", "L[0]", "np.sum(V)", "L[1]"),
    "copied to": (
        "L = [None, None]; V = np.zeros(1)", "", "L[0]", "(V * 1)[0]", "L[1]"
    ),
    "filled": ("L = [None, None]; V = np.zeros(1)", "", "L[0]", "(-V)[0] * -1", "L[1]"),
    "array of object": (
        "OBJ = Box(None, np.zeros(1))", "", "OBJ.k", "OBJ.v.sum()", "OBJ.f"
    ),
    "module": (
        "OBJ = ModuleType('m'); OBJ.k = OBJ.f = None", "", "OBJ.k", "OBJ.v", "OBJ.f"
    ),
    "named class": ("", "", "Box.k", "Box.v", "Box.f"),
    "heap": ("L = [None, None]; H = []", "", "L[0]", "H[0]", "L[1]"),
    "context": ("L = [None, None]; C = ContextVar('c')", "", "L[0]", "C.get()", "L[1]"),
    "default": (
        "L = [None, None]\ndef kept_value(v=0.0): return v",
        "", "L[0]", "kept_value()", "L[1]",
    ),
    "function": ("L = [None, None, None]", "", "L[0]", "L[1]()", "L[2]"),
    "partial": ("L = [None, None, None]", "", "L[0]", "L[1](1.0)", "L[2]"),
    "bound method": ("L = [None, None, None]", "", "L[0]", "L[1]()", "L[2]"),
    "iterator": ("L = [None, None, None]", "", "L[0]", "next(L[1])", "L[2]"),
}  # fmt: skip
STORES = {
    "pair": "OBJ.p = (k_, v_)",
    "record": "OBJ.p = Box(k_, v_)",
    "setattr": "setattr(OBJ, 'k', k_); setattr(OBJ, 'v', v_)",
    "array": "L[0] = k_; V[:] = v_",
    "array by out": "L[0] = k_; np.multiply(v_, 1.0, out=V)",
    "view": "L[0] = k_; V.reshape(-1)[:] = v_",
    "copied to": "L[0] = k_; np.copyto(V, v_)",
    "filled": "L[0] = k_; V.fill(v_)",
    "array of object": "OBJ.k = k_; np.multiply(v_, 1.0, out=OBJ.v)",
    "named class": "setattr(Box, 'k', k_); setattr(Box, 'v', v_)",
    "heap": "L[0] = k_; H.clear(); heapq.heappush(H, v_)",
    "context": "L[0] = k_; C.set(v_)",
    "default": "L[0] = k_; kept_value.__defaults__ = (v_,)",
    "function": "L[0] = k_; L[1] = lambda: v_",
    "partial": "L[0] = k_; L[1] = partial(np.multiply, v_)",
    "bound method": "L[0] = k_; L[1] = Box(k_, v_).value",
    "iterator": "L[0] = k_; L[1] = repeat(v_)",
}

KNOWN = {
    "pair": "OBJ.p is not None", "record": "OBJ.p is not None",
    "vars": "'k' in vars(OBJ)",
}  # fmt: skip

# Tests: the point that is kept, whether it is the argument, what is kept.
TESTS = {
    "allclose": ("x.copy()", "np.allclose({k}, x)", CUBE),
    "array_equal": ("x.copy()", "np.array_equal({k}, x)", CUBE),
    "entries": ("x.copy()", "({k} == x).all()", CUBE),
    "isclose": ("x.copy()", "np.isclose({k}, x).all()", CUBE),
    "norm of difference": ("x.copy()", "np.linalg.norm(x - {k}) < 1e-9", CUBE),
    "largest difference": ("x.copy()", "not np.max(np.abs({k} - x)) > 1e-9", CUBE),
    "any difference": ("x.copy()", "not np.any(x - {k})", CUBE),
    "method any": ("x.copy()", "not (x - {k}).any()", CUBE),
    "any unequal": ("x.copy()", "not (x != {k}).any()", CUBE),
    "square": ("x.copy()", "(x - {k}) @ (x - {k}) == 0", CUBE),
    "relative": ("x.copy()", "np.all(np.abs({k} - x) <= 1e-9 * np.abs(x))", CUBE),
    "kernel": ("x.copy()", "np.exp(-np.sum((x - {k}) ** 2)) > 0.999", CUBE),
    "number": ("x[0]", "{k} == x[0]", FIRST),
    "difference": ("x[0]", "abs({k} - x[0]) < 1e-9", FIRST),
    "between": ("x[0]", "{k} <= x[0] <= {k}", FIRST),
    "math.isclose": ("x[0]", "math.isclose({k}, x[0])", FIRST),
    "truth": ("x[0]", "not (x[0] - {k})", FIRST),
    "bool": ("x[0]", "not bool(x[0] - {k})", FIRST),
    "equal": ("x[0]", "np.equal(x[0], {k})", FIRST),
    "not_equal": ("x[0]", "not np.not_equal(x[0], {k})", FIRST),
    "logical_not": ("x[0]", "np.logical_not(x[0] - {k})", FIRST),
    "isin": ("x[0]", "np.isin(x[0], [9.0, {k}])", FIRST),
    "unique": ("x[0]", "np.unique([x[0], {k}]).size == 1", FIRST),
    "spelled out": ("x[0]", "len({x[0]: 0, {k}: 1}) == 1", FIRST),
    "copysign": ("x[0]", "math.copysign(1, abs(x[0] - {k}) - 1e-14) < 0", FIRST),
    "signbit": ("x[0]", "np.signbit(abs(x[0] - {k}) - 1e-14)", FIRST),
    "heaviside": ("x[0]", "np.heaviside(abs(x[0] - {k}), 0.0) == 0", FIRST),
    "whole difference": ("x[0]", "int(abs(x[0] - {k}) * 1e9) == 0", FIRST),
    "text of difference": ("x[0]", "f\"{x[0] - {k}:.1e}\" == '0.0e+00'", FIRST),
    "largest difference of nothing": ("x.copy()", "np.max(np.abs({k} - x)) == 0", CUBE),
    "rounded difference": ("x.copy()", "not np.rint((x - {k}) * 1e9).any()", CUBE),
    "nowhere": ("x.copy()", "np.flatnonzero(x - {k}).size == 0", CUBE),
    "positions": ("x.copy()", "len(np.nonzero(x - {k})[0]) == 0", CUBE),
    "set of arrays": ("x.copy()", "np.setdiff1d(x, {k}).size == 0", CUBE),
    "lists": ("x.copy()", "list(x) == list({k})", CUBE),
    "table": ("np.array([7.0, x[0]])", "({k} == x[0]).any()", FIRST),
    "position in a table": (
        "np.array([7.0, x[0]])", "np.flatnonzero({k} == x[0]).size", FIRST
    ),
    "list": ("x.tolist()", "x.tolist() == {k}", CUBE),
    "tuple": ("tuple(x)", "tuple(x) == {k}", CUBE),
    "bytes": ("x.tobytes()", "x.tobytes() == {k}", CUBE),
    "hash": ("hash(x.tobytes())", "hash(x.tobytes()) == {k}", CUBE),
    "rounded": ("round(x[0] * 1e6)", "round(x[0] * 1e6) == {k}", FIRST),
    "whole": ("int(x[0] * 1e6)", "int(x[0] * 1e6) == {k}", FIRST),
    "floor": ("np.floor(x * 1e6)", "np.array_equal(np.floor(x * 1e6), {k})", CUBE),
    "floor division": ("x[0] // 1e-6", "x[0] // 1e-6 == {k}", FIRST),
    "text": ("f'{x[0]:.9f}'", "f'{x[0]:.9f}' == {k}", FIRST),
    "new number": ("np.exp(x[0])", "np.exp(x[0]) == {k}", FIRST),
    "new array": ("x / 2", "(x / 2 == {k}).all()", CUBE),
    "norm": ("np.linalg.norm(x)", "np.linalg.norm(x) == {k}", "np.linalg.norm(x) ** 3"),
    "sum": ("np.sum(x)", "abs(np.sum(x) - {k}) < 1e-9", "np.sum(x) ** 3"),
    "in a list": ("[x[0]]", "x[0] in {k}", FIRST),
    "in a set": ("{float(q[0]) for q in [x]}", "x[0] in {k}", FIRST),
}  # fmt: skip

# Forms: `same(x)`, `update(x)` and `compute(x)` are there, and {v} reads the value.
FORMS = {
    "if": """
        def program(x):
            {g}
            if not ({same}):
                update(x)
            return {v} + np.sum(x)
        """,
    "inline": """
        def program(x):
            {g}
            if {k} is None or not ({same}):
                k_, v_ = {point}, {value}
                {store}
            return {v} + np.sum(x)
        """,
    "early return": """
        def program(x):
            {g}
            if same(x):
                return {v} + np.sum(x)
            update(x)
            return {v} + np.sum(x)
        """,
    "ternary": """
        def program(x):
            {g}
            v = {v} if same(x) else compute(x)
            return v + np.sum(x)
        """,
    "flag elsewhere": """
        def look(x):
            {g}
            {f} = not same(x)
        def refresh(x):
            {g}
            if {f}:
                update(x)
        def program(x):
            {g}
            look(x)
            refresh(x)
            return {v} + np.sum(x)
        """,
    "local flag": """
        def program(x):
            {g}
            stale = False
            if not same(x):
                stale = True
            if stale:
                update(x)
            return {v} + np.sum(x)
        """,
    "emptied": """
        def look(x):
            {g}
            if not same(x):
                {f} = None
        def program(x):
            {g}
            look(x)
            if {f} is None:
                update(x)
                {f} = 1
            return {v} + np.sum(x)
        """,
    "version": """
        def program(x):
            {g}
            if not same(x):
                {f} = -abs({f} or 1)
            if {f} is None or {f} < 0:
                update(x)
                {f} = 1
            return {v} + np.sum(x)
        """,
    "none": """
        def find(x):
            {g}
            if same(x):
                return {v}
            return None
        def program(x):
            v = find(x)
            if v is None:
                v = compute(x)
            return v + np.sum(x)
        """,
    "exception": """
        def find(x):
            {g}
            if not same(x):
                raise KeyError
            return {v}
        def program(x):
            try:
                return find(x) + np.sum(x)
            except KeyError:
                return compute(x) + np.sum(x)
        """,
    "exception and go on": """
        def find(x):
            {g}
            if not same(x):
                raise KeyError
            return {v}
        def program(x):
            try:
                return find(x) + np.sum(x)
            except KeyError:
                pass
            return compute(x) + np.sum(x)
        """,
    "suppressed": """
        def find(x):
            {g}
            if not same(x):
                raise KeyError
            return {v}
        def program(x):
            with suppress(KeyError):
                return find(x) + np.sum(x)
            return compute(x) + np.sum(x)
        """,
    "or": """
        def program(x):
            {g}
            same(x) or update(x)
            return {v} + np.sum(x)
        """,
    "and or": """
        def program(x):
            {g}
            v = (same(x) and {v}) or compute(x)
            return v + np.sum(x)
        """,
    "match": """
        def find(x):
            {g}
            return {v} if same(x) else None
        def program(x):
            match find(x):
                case None:
                    return compute(x) + np.sum(x)
                case v:
                    return v + np.sum(x)
        """,
    "while": """
        def program(x):
            {g}
            while not same(x):
                update(x)
            return {v} + np.sum(x)
        """,
    "for": """
        def program(x):
            {g}
            for _ in range(0 if same(x) else 1):
                update(x)
            return {v} + np.sum(x)
        """,
    "comprehension": """
        def program(x):
            {g}
            [update(x) for known in [same(x)] if not known]
            return {v} + np.sum(x)
        """,
    "pair of flag and value": """
        def look(x):
            {g}
            if same(x):
                return True, {v}
            return False, None
        def program(x):
            known, v = look(x)
            if not known:
                v = compute(x)
            return v + np.sum(x)
        """,
    "function chosen": """
        def kept(x):
            {g}
            return {v}
        def program(x):
            pick = kept if same(x) else compute
            return pick(x) + np.sum(x)
        """,
    "function of a table": """
        def kept(x):
            {g}
            return {v}
        def program(x):
            return {{True: kept, False: compute}}[bool(same(x))](x) + np.sum(x)
        """,
    "for else": """
        def program(x):
            {g}
            for _ in range(1):
                if same(x):
                    v = {v}
                    break
            else:
                v = compute(x)
            return v + np.sum(x)
        """,
    "read first": """
        def program(x):
            {g}
            v = {v} if {known} else None
            if not same(x):
                v = compute(x)
            return v + np.sum(x)
        """,
}
BODY = """
def same(x):
    {g}
    return {known} and ({same})
def update(x):
    {g}
    k_, v_ = {point}, {value}
    {store}
def compute(x):
    {g}
    update(x)
    return {v}
"""


def compared(place: str, test: str, form: str) -> Program:
    """A program that compares the argument with the last one."""
    preamble, declared, k, v, f = PLACES[place]
    point, same, value = TESTS[test]
    parts = {
        "g": declared or "pass", "k": k, "v": v, "f": f, "point": point, "value": value,
        "same": same.replace("{k}", k),
        "store": STORES.get(place, f"{k} = k_; {v} = v_"),
        "known": KNOWN.get(place, f"{k} is not None"),
    }  # fmt: skip
    form_text = textwrap.dedent(FORMS[form])
    if form == "inline":
        form_text = form_text.replace("{k} is None", "not ({known})")
        text = (BODY + form_text).format(**parts)
    elif form == "if":
        text = BODY.format(**parts) + form_text.format(**{**parts, "same": "same(x)"})
    else:
        text = (BODY + form_text).format(**parts)
    if place == "closure":
        inner = textwrap.indent(preamble + text + "\nreturn program", "    ")
        return Program(f"{HEAD}\ndef make():\n{inner}\n", value)
    return Program(f"{HEAD}\n{preamble}\n{text}", value)


# Places whose value is computed when it is read.
COMPUTED = {
    "array", "array by out", "view", "copied to", "filled", "array of object",
    "function", "partial", "bound method", "default", "iterator",
}  # fmt: skip


def is_seen(place: str, _test: str, form: str) -> bool:
    """Whether a kept result is seen: not what is computed of it before the test."""
    return not (place in COMPUTED and form == "read first")
