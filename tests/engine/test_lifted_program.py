"""The lifted program is the program: every NumPy call, wherever arrays lie.

Every day some of the calls are looked at, more of those whose result may be an
argument; at night all of them.
"""

from zlib import crc32

import numpy as np
import pytest

from rules_autodiff._shadows import slots
from rules_autodiff._tape import reverse
from rules_autodiff._tape.fast import known, maps
from tests.engine.lifted_calls import SCOPE, WORLDS, calls, sample, walked
from tests.engine.oracle_lifted import (
    LAYOUTS,
    MODES,
    REFUSED,
    RETURNED,
    differences,
    plainly,
    program_of,
    straight_differences,
    tried,
)

# What is known to differ, and why.
KNOWN = {
    "scipy.special.zeta(x, y, x": "an `out` by position",
    "np.frombuffer": "a broadcast argument enters as a copy, which has a buffer",
    "np.piecewise": "conditions and functions that are arrays of another meaning",
    "np.vecdot(x, y, x": "a product that is written over its own operand",
    "np.matvec(x, y, x": "a product that is written over its own operand",
    "np.vecmat(x, y, x": "a product that is written over its own operand",
    "np.linalg.svd": "vectors of equal values are chosen where the result is stretched",
    "np.linalg.eig": "vectors of equal values are chosen where the result is stretched",
    "np.linalg.cond": "the rule of a singular matrix says that it is one",
    "np.array(x, float, order='F', copy=False)": "a broadcast argument is copied",
    "np.asanyarray(x, float, order='F', copy=False)": "a broadcast argument is copied",
    "np.asarray(x, float, order='F', copy=False)": "a broadcast argument is copied",
    "np.nanvar(x, dtype=np.float32": "a broadcast argument is copied, and rounded so",
    "np.fft.ifft2(x, out=y)": "NumPy leaves an `out` alone that does not fit",
    "np.fft.hfft": "NumPy reads memory that it has not written, for an empty array",
    "np.fft.irfft": "NumPy reads memory that it has not written, for an empty array",
    "x.dot(x, out=y)": "NumPy takes only an `out` that is in C order",
    "np.dot(x, x, out=y)": "NumPy takes only an `out` that is in C order",
    "np.dot(x, y, x)": "NumPy takes only an `out` that is in C order",
    "np.nanmedian(x, out=y)": "an `out` of another shape for an empty array",
    "np.nanquantile(x, x, out=y)": "an `out` of another shape for an empty array",
    "np.nanpercentile(x, x, out=y)": "an `out` of another shape for an empty array",
    "np.nanpercentile(x, x.shape": "an empty row of places",
    "np.nanquantile(x, x.shape": "an empty row of places",
    "x.setflags(": "a read-only argument stays read-only",
    "np.percentile(x, x.shape": "an empty row of places",
    "np.quantile(x, x.shape": "an empty row of places",
    "np.unique(": "rows without entries",
    "x.tobytes": "bytes are followed by a stand-in",
    "x.put(": "the class of an IndexError",
    "np.put(": "the class of an IndexError",
    "x.conjugate(None)": "an `out` that a number does not have",
    "x.conj(None)": "an `out` that a number does not have",
}


def is_known(text):
    tuples = text.startswith("scipy.") and ("((x, y))" in text or "([x, y])" in text)
    return tuples or any(text.startswith(start) for start in KNOWN)


def layouts_of(text, layouts):
    """Layouts that a call can be compared in.

    NumPy rounds otherwise where it writes with gaps, and a derivative copies there. It
    crashes where it accumulates into a 0-d array.
    """
    left_out = ["strided", "negative", "reversed temporary"] if writes(text) else []
    left_out += ["0-d", "0-d temporary"] if ".cum" in text or ".nancum" in text else []
    if ".factorial(" in text:  # which returns an empty argument itself
        left_out += ["empty"]
    return [layout for layout in layouts if layout not in left_out]


def writes(text):
    """Whether a call is given an `out`, by keyword or, a ufunc, by position."""
    name, _, given = text.partition("(")
    f = eval(name, SCOPE) if name.startswith("np.") else None
    by_position = isinstance(f, np.ufunc) and given.count(",") >= f.nin
    return "out=" in text or by_position


def faults(texts, world, layouts=LAYOUTS, look=differences):
    """What differs, by call and layout."""
    found = {}
    for text in texts:
        if not is_known(text):
            for layout in layouts_of(text, layouts):
                told = look(text, world, layout)
                if told:
                    found[text, layout] = told
    return found


def refused(texts, world):
    """The calls in C order that a mode refuses, as a share of those that work."""
    working = [
        program
        for program in map(program_of, (t for t in texts if not is_known(t)))
        if tried(plainly, program, world, "C")[0] == RETURNED
    ]
    outcomes = [tried(mode, p, world, "C")[0] for mode in MODES for p in working]
    return outcomes.count(REFUSED) / len(outcomes)


# What may be refused: derivatives that are not known, as of Bessel functions in their
# order, and calls that mean something else for a number with a derivative.
MOST = 0.1


@pytest.mark.covering(every=3, start=1)
@pytest.mark.parametrize("world", WORLDS)
def test_some_calls(world):
    texts = sample(world, 120)
    assert not faults(texts, world)
    assert refused(texts, world) <= MOST


def test_some_calls_in_written_code():
    texts = [text for text in calls("matrix") if crc32(text.encode()) % 60 == 0]
    layouts = ["C", "Fortran", "strided", "negative", "0-d", "empty", "read-only"]
    assert not faults(texts, "matrix", layouts, straight_differences)


SLICES = 24


def some_layouts(text):
    """A third of the layouts; a function meets all, for it has calls of many forms."""
    return [*LAYOUTS][crc32(text.encode()) // SLICES % 3 :: 3]


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("world", WORLDS)
def test_all_calls(world, part):
    texts = [t for t in calls(world) if crc32(t.encode()) % SLICES == part]
    for text in texts:
        layouts = some_layouts(text)
        assert not faults([text], world, layouts)
        assert not faults([text], world, layouts, straight_differences)
    assert refused(texts, world) <= MOST


# What was found to differ, which the samples may leave out.
FOUND = {
    "matrix": """
        x.all() x.any(axis=0) np.sin(x,None) np.modf(x,y) np.divmod(x,y,x)
        np.nan_to_num(x,copy=False) np.atleast_1d(x,1.0) np.atleast_3d(x,y,1.0)
        np.broadcast_arrays(x,y) x.ravel() np.ravel(x,'K') x.dot(y) x.conj()
        x.astype(float,copy=False) x.item(1) x.copy('F') np.cumprod(x,0)
        np.nancumprod(x,-1) np.reshape(x,x.shape) np.copyto(x,y) x.sort(-1)
        np.linalg.matrix_power(x,1) np.dot(x,y,None) x.copy(None)
        scipy.special.ive(x,x>0.5) scipy.special.zeta(x>0.5,x) np.arctan2(x>0.5,x)
    """.split(),
    "vector": """
        x.all() x.item() x.item(-1) x.tolist() np.trim_zeros(x) np.diag(x)
        np.poly(x) np.polyder(x,2.0) np.polyint(x,2.0) np.polyfit(y,x,1.0)
    """.split(),
    "box": ["x.ravel('K')", "x.flatten('K')", "np.ravel(x, 'A')", "np.dot(x, x.mT)"],
}  # fmt: skip


@pytest.mark.parametrize("world", WORLDS)
def test_calls_that_differed(world):
    assert not faults(FOUND[world], world)


def test_the_walk_knows_what_it_should():
    found = set(walked())
    assert {"np.dot", "x.dot", "x.astype", "x.conj", "np.linalg.norm"} <= found
    assert {"np.add.reduce", "scipy.special.logsumexp", "np.fft.fft", "x.item"} <= found
    assert len(found) > 450
    assert all(sum(calls(world).values()) > 300 for world in WORLDS)


# The faults that were there, put back: the oracle must see each of them.


def test_it_sees_a_view_of_a_temporary_in_the_wrong_order(monkeypatch):
    """The owner's layout was not noted for whole views."""
    assert not faults(["x[0]", "x.item(1)"], "matrix", ["transposed temporary"])
    monkeypatch.setattr(slots.Shadow, "layout", lambda _: c_strides(_))
    assert faults(["x[0]", "x.item(1)"], "matrix", ["transposed temporary"])


def c_strides(shadow):
    like = np.broadcast_to(np.zeros((), shadow.dtype), shadow.shape)
    return like.copy().strides


@pytest.mark.parametrize("text", ["np.dot(x, y)", "x.dot(y)"])
def test_it_sees_that_dot_is_no_matmul(monkeypatch, text):
    cube = {
        "cube": (
            np.arange(8.0).reshape(2, 2, 2),
            np.cos(np.arange(8.0)).reshape(2, 2, 2),
        )
    }
    monkeypatch.setattr("tests.engine.lifted_calls.WORLDS", cube)
    monkeypatch.setattr("tests.engine.oracle_lifted.WORLDS", cube)
    assert not faults([text], "cube", ["C"])
    monkeypatch.setattr(known, "SEEN", {})
    monkeypatch.setitem(known.KNOWN, np.dot, maps.MATMUL)
    assert faults([text], "cube", ["C"])


@pytest.mark.parametrize(
    "text", ["x.astype(float, copy=False)", "x.conj()", "x.conjugate()"]
)
def test_it_sees_copies_where_numpy_gives_the_array(monkeypatch, text):
    layouts = ["C", "Fortran", "transposed temporary"]
    assert not faults([text], "matrix", layouts)
    monkeypatch.setattr(reverse, "views_in", lambda *_: [])
    assert len(faults([text], "matrix", layouts)) == len(layouts)


def test_it_sees_arrays_where_numpy_gives_numbers(monkeypatch):
    call = ["scipy.special.logsumexp(x)"]
    assert not faults(call, "matrix", ["C", "temporary"])
    monkeypatch.setattr("rules_scipy.special._logsumexp._bare", lambda x: x)
    assert len(faults(call, "matrix", ["C", "temporary"])) == 2
