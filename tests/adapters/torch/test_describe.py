"""What an exported program says of a call, read again."""

from __future__ import annotations

import math
from collections import namedtuple

import pytest
import torch
from hypothesis import given, strategies as st

from rules_torch import UntraceableError
from rules_torch._export.describe import Unspeakable, described, restored

Pair = namedtuple("Pair", "a b")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary()
    | st.slices(9)
    | st.sampled_from(
        [torch.float32, torch.device("cpu"), torch.Size([2]), Pair, len, math.sin]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_every_value_is_read_again(value):
    text = described(value)
    assert " " not in text
    again = restored(text)
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_what_has_no_name_elsewhere():
    for value in (object(), lambda: 0, Pair(1, 2), {"a": [object()]}):
        with pytest.raises(Unspeakable):
            described(value)


def test_nothing_is_imported_by_reading():
    with pytest.raises(UntraceableError, match="Import antigravity before"):
        restored("('named','antigravity:fly')")
