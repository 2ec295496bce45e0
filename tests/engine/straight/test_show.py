"""`show(f, *args)`: the written code, to be read."""

import numpy as np
import pytest

from rules_autodiff import Const, UnsupportedProgram, show

X = np.array([0.5, -1.0, 2.0])


def program(x, y):
    return x * y


def test_the_code_of_a_call():
    text = show(program, 2.0, 3.0)
    space = {}
    exec(text, space)
    names = [name for name in space if name.startswith("program")]
    value, kept = space[names[0]](2.0, 3.0, ())
    assert value == 6.0
    assert space[names[1]](kept, 1.0) == (3.0, 2.0)


def test_constants_have_no_way_back():
    assert "y__bar" in show(program, 2.0, 3.0)
    assert "y__bar" not in show(program, 2.0, Const(3.0))
    assert "y__bar" not in show(program, 2.0, 3)


def test_without_arguments_it_is_the_code_of_the_tape():
    assert "_ad.mul(x, y)" in show(program)


def test_what_cannot_be_written():
    seen = []

    def notes(x):
        seen.append(1)
        return x

    with pytest.raises(UnsupportedProgram) as caught:
        show(notes, 2.0)
    text = str(caught.value)
    assert f"({__file__}, line {notes.__code__.co_firstlineno})" in text
    assert text.endswith("show(f) gives its code for the tape.")
    with pytest.raises(TypeError, match="must be written in Python"):
        show(np.sum, X)
