"""What a function reads that calls functions which numba compiled.

Their objects lead to the compiler: ten thousand parts, of which none is the program's.
"""

import pytest

from rules_core.extend import Reads

numba = pytest.importorskip("numba")  # of the extra `compiled`
RATE = 2.0


def plain(x):
    return x * RATE


def along(x, rate, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * rate[0]


COMPILED = {
    "njit": lambda: numba.njit(plain),
    "vectorize": lambda: numba.vectorize(plain),
    "guvectorize": lambda: numba.guvectorize("(n),()->(n)")(along),
}


@pytest.mark.parametrize("captured", [True, False])
@pytest.mark.parametrize("made", COMPILED)
def test_the_compiler_is_not_searched(made, captured):
    compiled = COMPILED[made]()

    def host(x):
        return compiled(x)

    assert len(Reads([host], captured=captured).was) < 10


@pytest.mark.parametrize("made", ["njit", "vectorize"])
def test_what_its_source_reads_counts(made, monkeypatch):
    """The derivative is that of the source, which reads the number of today."""
    compiled = COMPILED[made]()

    def host(x):
        return compiled(x)

    reads = Reads([host])
    assert reads.changed() is None
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert reads.changed() is not None


def typed_list():
    return numba.typed.List([2.0])


def typed_dict():
    found = numba.typed.Dict.empty(numba.types.int64, numba.types.float64)
    found[0] = 2.0
    return found


@pytest.mark.full  # compiles for ten seconds
@pytest.mark.parametrize("made", [typed_list, typed_dict])
def test_entries_of_its_containers_count(made):
    numbers = made()

    def host(x):
        return x * numbers[0]

    reads = Reads([host])
    assert reads.changed() is None
    numbers[0] = 3.0
    assert reads.changed() is not None
