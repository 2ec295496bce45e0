"""The measure that the tests of memory share sees a leak, and only a leak."""

from tests.growth import growth


def test_a_leak_of_every_call_is_seen():
    kept = []
    assert growth(lambda: kept.append(bytearray(100)), 50) > 50 * 100


def test_a_cache_that_fills_once_is_no_leak():
    cache = {}
    calls = iter(range(10_000))

    def work():
        count = next(calls)
        if count == 120:
            cache["filled"] = bytearray(100_000)

    assert growth(work, 50) < 1000
