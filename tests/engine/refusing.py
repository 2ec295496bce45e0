"""What a refusal must be: an error of the engine that names the program's own line."""

import re

import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp

__all__ = ["assert_refused"]


def assert_refused(f, x, text):
    """Both modes refuse `f(x)`, in these words and with a line of `f`."""
    code = f.__code__
    lines = {line for _, _, line in code.co_lines() if line}
    for run in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedProgram, match=text) as caught:
            run()
        place = re.search(r"\(([^()]*), line (\d+)", str(caught.value))
        assert place is not None, caught.value
        assert place[1] == code.co_filename
        assert int(place[2]) in lines
