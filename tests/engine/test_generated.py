"""Generated in-place programs against finite differences: none may be wrong.

A program may be refused, with a clear error; a wrong derivative has no excuse.
"""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram
from rules_autodiff.testing import check_program
from rules_autodiff.testing._vectors import copy_of, moved, random_like
from tests.engine.generator import SCRATCH, TRACE, arguments, program


def decisions(f, args):
    """What the branches of a program decide."""
    TRACE.clear()
    SCRATCH[...] = 0.0
    f(*copy_of(args))
    return tuple(TRACE)


def is_smooth(f, args, seed):
    """Whether the branches decide alike wherever differences will be taken."""
    direction = random_like(np.random.default_rng(seed), args)
    here = decisions(f, args)
    steps = [count * 1e-3 for count in (-3, -2, -1, 1, 2, 3)]
    return all(decisions(f, moved(args, direction, step)) == here for step in steps)


def check(seed):
    """What one program says: that it is right, that it is refused, or nothing."""
    f, text = program(seed)
    args = arguments(seed)

    def fresh(*given):
        SCRATCH[...] = 0.0
        return f(*given)

    try:
        with np.errstate(all="raise"):
            smooth = is_smooth(f, args, seed)
    except (FloatingPointError, OverflowError):
        return None
    if not smooth:
        return None
    try:
        check_program(fresh, *args, seed=seed, rtol=1e-5, second=seed % 10 == 0)
    except UnsupportedProgram as error:
        if "NumPy does not buffer" in str(error):
            return None
        if "as a cache does" not in str(error):
            raise
        return "refused"  # `SCRATCH` is older than the run, and nearly kept
    except AssertionError as error:
        message = f"program {seed} is wrong: {error}\n{text}"
        raise AssertionError(message) from None
    return "right"


def run(seeds):
    """Most programs are right; about one in a hundred keeps an old `SCRATCH`."""
    said = [check(seed) for seed in seeds]
    assert said.count("right") > 0.6 * len(seeds)
    assert said.count("refused") <= 2 + 0.01 * len(seeds)


@pytest.mark.covering(every=10)
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_generated(first):
    """500 programs."""
    run(range(first, first + 50))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1000, 11000, 1000))
def test_generated_nightly(first):
    """10,000 programs."""
    run(range(first, first + 1000))
