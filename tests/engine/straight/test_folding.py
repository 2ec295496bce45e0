"""Temporary names that are folded away: which are, and that nothing is moved."""

import numpy as np

from rules_autodiff import show
from rules_autodiff.straight._write.folding import folded


def lines(text: str) -> list[str]:
    """Lines of forward code, folded."""
    numbered = [(line, number) for number, line in enumerate(text.splitlines())]
    return [line for line, _ in folded(numbered)]


def test_names_with_one_use_go():
    assert lines("__1 = (a @ x)\n__2 = tanh(__1)\ny = (__2 + b)") == [
        "y = (tanh((a @ x)) + b)"
    ]


def test_names_that_are_kept_stay():
    found = lines("__1 = (a @ x)\ny = tanh(__1)\n__push((1, __1))")
    assert found == ["__1 = (a @ x)", "y = tanh(__1)", "__push((1, __1))"]


def test_nothing_moves_over_a_write():
    found = lines("__1 = y[0]\ny[0] = 3.0\nz = (__1 + 1.0)")
    assert found == ["__1 = y[0]", "y[0] = 3.0", "z = (__1 + 1.0)"]


def test_nothing_moves_over_the_head_of_a_branch_or_out_of_it():
    text = "__1 = (a * b)\nif c:\n    __2 = (a + b)\nz = (__1 + __2)"
    assert lines(text) == text.splitlines()


def test_nothing_is_folded_into_texts():
    text = "__1 = (a * b)\nz = einsum('i,i', __1, b)"
    assert lines(text) == text.splitlines()


def test_copies_of_what_is_overwritten_come_first():
    found = lines("__1 = (y * x)\n__k1 = y\ny = (__1 + 0.5)")
    assert found == ["__k1 = y", "y = ((y * x) + 0.5)"]


def test_a_program_reads_like_its_source():
    def program(w, x):
        return np.sum(np.tanh(w @ x) ** 2)

    text = show(program, np.eye(2), np.ones(2))
    assert "tanh" in text
    assert "(w @ x)" in text
    assert "__1 = (w @ x)" not in text
