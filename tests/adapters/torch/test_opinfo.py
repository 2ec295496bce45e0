"""torch's own operator database as an outside oracle.

Its sample inputs (broadcast, 0-d, empty, strided, complex, every option) drive the
rules of array-API functions: the generic ones of this folder to second order, SciPy's
pack to second order, NumPy's pack, whose rules are opaque calls here, to first.
"""

from __future__ import annotations

import pytest
import torch

from .operators import OPERATORS
from .oracle import compare, database
from .spaces import SPACES

# torch's samples themselves warn (complex parts dropped, deprecated names).
pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = (torch.float64, torch.complex128)
EVERY = 10_000
BY_NAME = {entry.name: entry for entry in OPERATORS}

NULL = "rank-deficient: zero on the null space, where torch takes U Vᴴ of its choice"

# What differs, by (space, operator): the check, and why that is right.
EXPLAINED: dict[tuple[str, str], dict[str, str]] = {
    ("packs", "linalg.norm.subgradients_at_zero"): {"vjp": NULL, "jvp": NULL},
}
# Names in the database that no sample reaches, and why.
UNREACHED: dict[tuple[str, str], str] = {
    ("generic", "round.decimals_0"): "the array API rounds to whole numbers only",
    ("generic", "round.decimals_3"): "the array API rounds to whole numbers only",
}


def cases():
    for space, names in SPACES.items():
        for entry in OPERATORS:
            if all(map(names.has, entry.needs)):
                yield space, entry.name


CASES = list(cases())


def checks_of(space, entry):
    special = all(path.startswith("special.") for path in entry.needs)
    first = ("value", "vjp", "jvp")
    return (*first, "second") if space == "generic" or special else first


def dtypes_of(name):
    return database()[name].supported_backward_dtypes("cpu")


def found(space, name, most, dtypes=DTYPES):
    """Check → its failure on samples of these dtypes, of which there must be some."""
    entry, names, op = BY_NAME[name], SPACES[space], database()[name]
    call, same = entry.call(names.primitives), names.same(entry)
    failures, count = {}, 0
    for dtype in dtypes:
        if dtype in dtypes_of(name):
            report = compare(op, call, same, dtype, checks_of(space, entry), most)
            failures |= report.found
            count += report.count
    assert (count == 0) == ((space, name) in UNREACHED)
    return failures


def unexplained(space, name, *given):
    failures = found(space, name, *given)
    known = EXPLAINED.get((space, name), {})
    return {check: text for check, text in failures.items() if check not in known}


@pytest.mark.covering(every=48)
@pytest.mark.parametrize(("space", "name"), CASES)
def test_rules_agree_with_torch(space, name):
    some = [torch.float64]
    if space == "generic" or torch.float64 not in dtypes_of(name):
        some = DTYPES
    assert not unexplained(space, name, 1, some)


@pytest.mark.nightly
@pytest.mark.parametrize(("space", "name"), CASES)
def test_rules_agree_with_torch_on_every_sample(space, name):
    assert not unexplained(space, name, EVERY)


@pytest.mark.parametrize("case", EXPLAINED, ids=".".join)
def test_what_is_explained_is_still_so(case):
    assert set(found(*case, EVERY)) >= set(EXPLAINED[case])


def test_every_entry_is_an_operator_of_the_database():
    assert [entry.name for entry in OPERATORS if entry.name not in database()] == []
    assert set(EXPLAINED) | set(UNREACHED) <= set(CASES)


def wrong_at_first_order(x):
    return torch.sin(x) + (x - x.detach())


def wrong_at_second_order(x):
    point = x.detach()
    return torch.sin(point) + torch.cos(point) * (x - point)


def wrong_value(x):
    return 1 + torch.sin(x)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    ("f", "seen"),
    [
        (torch.sin, set()),
        (wrong_value, {"value"}),
        (wrong_at_second_order, {"second"}),
        (wrong_at_first_order, {"vjp", "jvp", "second"}),
    ],
)
def test_a_wrong_function_is_seen(f, seen):
    op, every = database()["sin"], ("value", "vjp", "jvp", "second")

    def call(x):
        return f(x)

    report = compare(op, call, lambda *_: True, torch.float64, every, EVERY)
    assert set(report.found) == seen
