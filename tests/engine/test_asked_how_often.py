"""Special methods with effects are asked as often as Python asks them, or refused.

Each statement gives an object to something that asks it; the program's value is how
often it was asked. Errors are not compared: they are found by asking once more.
"""

import bisect
import collections
import heapq
import itertools
import linecache
import math
import operator
import warnings
from collections import Counter

import numpy as np
import pytest

from rules_autodiff import jvp, vjp

STATEMENTS = """
    list(o); tuple(o); [*o]; (*o,); sorted(o); [v for v in o]; [].extend(o); sum(o)
    (lambda a, b: a)(*o); (lambda *a: a)(1, *o); max(*o, 1.0); [1.0].__iadd__(o)
    a, b = o; a, *b = o; q = [1, 2]; q[:] = o; set(o); frozenset(o); reversed(o)
    list(zip(o, o)); list(enumerate(o)); list(map(abs, o)); list(filter(None, o))
    collections.deque(o); list(itertools.chain(o, o)); list(itertools.product(o, [1]))
    list(itertools.permutations(o)); list(itertools.combinations(o, 1)); max(o)
    list(itertools.islice([1, 2, 3], o)); list(itertools.islice(o, 1)); any(o); all(o)
    list(itertools.repeat(1.0, o)); list(itertools.accumulate(o)); len(o); o.__len__()
    1 if o else 2; not o; o and 1; bool(o); [1 for _ in [1] if o]; any([o, o])
    while o: break
    assert o
    [1, 2, 3][o]; [1, 2, 3][o:]; 'abc'[o]; (1, 2)[o]; range(5)[o]; bytes(3)[o]
    np.arange(3.0)[o]; np.arange(3.0)[o:]; np.eye(2)[o, o]; range(o); list(range(o))
    [1] * o; (1,) * o; 'a' * o; [1, 2, 3].pop(o); [1].insert(o, 2); [1, 2].index(1, o)
    collections.deque([1, 2]).rotate(o); operator.index(o); hex(o); chr(o); bytes(o)
    slice(o).indices(3); [1, 2].__setitem__(o, 3); del [1, 2][o]; round(1.25, o)
    math.factorial(o); math.comb(5, o); math.gcd(o, 4); math.ldexp(1.0, o); pow(2, o)
    o == 3; o != 3; 3 == o; o in [1, 2]; 3 in [o, o]; [o, o].index(3); [o, o].count(3)
    [o, o].remove(3); [o] == [3]; (o, 1) == (3, 1); {'a': o} == {'a': 3}; o < o; o > o
    sorted([o, o, o]); [o, o].sort(); min([o, o]); max(o, o, o); min(o, o)
    heapq.heapify([o, o, o]); bisect.bisect([o, o], o); heapq.nsmallest(1, [o, o])
    list(itertools.groupby([o, o])); operator.countOf([o, o], 3); 3 in o; 3 not in o
    hash(o); {o: 1}; {o}; {1: 2}.get(o); {1: 2}.pop(o, 3); o in {1: 2}; o in {1}
    {1}.discard(o); {1: 2}.setdefault(o, 1); {1}.add(o); dict.fromkeys([o])
    collections.Counter([o]); {(o, 1): 2}; frozenset([o]); {1: 2} | {o: 1}
    float(o); complex(o); int(o); math.sqrt(o); math.hypot(o, o); math.fsum([o, o])
    math.dist([o], [o]); abs(o); round(o); math.floor(o); divmod(o, 2); -o; +o; o + 1
    str(o); repr(o); f"{o}"; f"{o!r}"; "%s" % o; "{}".format(o); format(o); [str(o)]
    " ".join([str(o), str(o)]); print(o, end=""); "%s %s" % (o, o); str([o]); repr((o,))
    np.float64(o); np.array(o); np.asarray([o]); np.sum(o); np.sqrt(o)
    np.take(np.arange(3.0), o); np.arange(2.0) * o; o * np.arange(2.0); np.full(2, o)
    np.array([o, 1.0]); np.add(o, 1.0); np.dot([1.0, 2.0], o); np.maximum(o, 1.0)
    np.arange(2.0).reshape(o, 2); np.where(o, 1.0, 2.0); np.concatenate([o, o])
    operator.length_hint(o); operator.truth(o); operator.getitem([1, 2, 3], o); iter(o)
"""
METHODS = """
class Asked:
    def __init__(self, x):
        self.x, self.n = x, 0.0
    def {name}(self{more}):
        self.n = self.n + 1.0
        return {value}
"""
ITERATED = "    def __iter__(self):\n        return iter([1.0, 2.0])\n"
# One special method is Python's own in each class, so that nothing else is asked.
CLASSES = {
    "__len__": ("", "2", ITERATED),
    "__length_hint__": ("", "2", ITERATED),
    "__getitem__": (", i", "[1.0, 2.0][i]", "    def __len__(self): return 2\n"),
    "__iter__": ("", "iter([1.0, 2.0])", ""),
    "__contains__": (", v", "True", ""),
    "__index__": ("", "1", ""),
    "__bool__": ("", "True", ""),
    "__eq__": (", v", "True", "    __hash__ = None\n"),
    "__lt__": (", v", "self.x < 2.0", ""),
    "__hash__": ("", "7", ""),
    "__float__": ("", "1.5", ""),
    "__str__": ("", "'a'", ""),
    "__repr__": ("", "'a'", ""),
    "__format__": (", spec", "'a'", ""),
    "__array__": (", dtype=None, copy=None", "np.ones(2)", ""),
}  # fmt: skip
SCOPE = {
    "bisect": bisect, "collections": collections, "heapq": heapq,
    "itertools": itertools, "math": math, "operator": operator, "np": np,
}  # fmt: skip
WAYS = {
    "tape": lambda f: vjp(f, 1.5, tier="tape")[0],
    "either tier": lambda f: [vjp(f, 1.5)[0] for _ in range(2)][-1],
    "forward": lambda f: jvp(f, (1.5,), (1.0,))[0],
}


def statements():
    return [s for line in STATEMENTS.strip().splitlines() for s in split(line.strip())]


def split(line):
    """The statements of a line; an assignment and what follows stay together."""
    return line.replace("q = [1, 2]; ", "q = [1, 2] ;").split("; ")


def program_of(method, statement):
    more, value, others = CLASSES[method]
    source = METHODS.format(name=method, more=more, value=value) + others + (
        "def program(x):\n    o = Asked(x)\n    try:\n"
        f"        {statement}\n"
        "    except (TypeError, ValueError, IndexError, AttributeError):\n"
        "        pass\n"
        "    return x * o.n\n"
    )  # fmt: skip
    name = f"<asked {method} {statement}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {**SCOPE, "__name__": __name__}
    exec(compile(source, name, "exec"), scope)
    return scope["program"]


def counted(method):
    """What is asked another number of times, and how many runs were refused."""
    found, outcomes = {}, Counter()
    for statement in statements():
        program = program_of(method, statement)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = program(1.5)
            for name, way in WAYS.items():
                told = told_of(program, way)
                outcomes["refused" if told is None else "compared"] += 1
                if told is not None and told != plain:
                    found[statement, name] = plain / 1.5, told
    return found, outcomes


def told_of(program, way):
    try:
        return way(program)
    except Exception as error:
        if type(error).__module__.startswith("rules_"):
            return None
        return repr(error)


@pytest.mark.covering(every=15)
@pytest.mark.parametrize("method", CLASSES)
def test_it_is_asked_as_often_as_python_asks(method):
    found, outcomes = counted(method)
    assert found == {}
    assert outcomes["compared"] > 3 * outcomes["refused"]


def test_there_are_many_statements():
    assert len(statements()) > 150
