"""scipy.signal: every function over its options, in every framework and order."""

import numpy as np
import pytest
import scipy.signal as sp

import rules_core as rc
from rules_scipy import signal

from .frameworks import HOSTS, differences, directions, loss_of, opened
from .signal_cases import CASES

pytestmark = [
    pytest.mark.filterwarnings("ignore:This window is not suitable"),
    pytest.mark.filterwarnings("ignore:NOLA condition failed"),
    pytest.mark.filterwarnings("ignore:Input data is complex"),
    pytest.mark.filterwarnings("ignore:kernel_size exceeds"),
]


def ours(f):
    """The primitive of a function of SciPy."""
    names = {**vars(signal.windows), **vars(signal)}
    return names[f.__name__]


def moves_of(f, arrays):
    """Directions in which SciPy accepts sections: coefficients that are fixed stay."""
    moves = directions(arrays)
    if f in (sp.sosfilt, sp.sosfiltfilt, sp.freqz_sos):
        moves[0] = moves[0] * (arrays[0] != 0) * (np.arange(6) != 3)
    return moves


def compare(f, args, options, host, modes):
    arrays, form = opened(args)
    moves, own = moves_of(f, arrays), HOSTS[host]()
    plain = loss_of(f, form, options, np.asarray)
    known = differences(plain, arrays, moves)[len(modes) - 1]
    along = loss_of(ours(f), form, options, own.array)
    for mode in modes:
        along = (own.forward if mode == "f" else own.reverse)(along, moves)
    got = own.run(along, arrays)
    assert np.isclose(got, known, rtol=2e-4, atol=2e-5 * (1 + abs(known)))


@pytest.mark.covering(every=40)
@pytest.mark.parametrize("mode", ["f", "r"])
@pytest.mark.parametrize("name", CASES)
def test_options(name, mode):
    compare(*CASES[name], "engine", mode)


# One call of each function
ONE = {f.__name__: (f, args, kw) for f, args, kw in reversed(CASES.values())}
PLACES = [(n, h, m) for n in ONE for h in HOSTS for m in ("f", "r", "rr", "fr", "rf")]


@pytest.mark.covering(every=80)
@pytest.mark.parametrize(("name", "host", "modes"), PLACES)
def test_in_frameworks(name, host, modes):
    compare(*ONE[name], host, modes)


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys(name):
    """Also where a derivative is computed."""
    f, args, options = CASES[name]
    y, _ = rc.rrule(f, *args, **options)
    known = f(*args, **options)
    pairs = zip(y, known, strict=True) if isinstance(known, tuple) else [(y, known)]
    for got, expected in pairs:
        np.testing.assert_array_equal(got, expected)
