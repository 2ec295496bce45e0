"""Every function with rules is checked by some test, at both levels."""

from __future__ import annotations

import pytest

from tests.packs.numpy.reports import reported

# Checked by other means than `check_rule`, which cannot look at them.
OTHERWISE = {
    "array_api_compat.common._aliases.empty_like": "its value is whatever memory held",
    "numpy.empty_like": "its value is whatever memory held",
    "numpy.clongdouble": "its signature is not that of its calls; test_calculus",
    "numpy.float16": "too coarse for finite differences; test_calculus",
    "numpy.intersect1d": "equal entries must stay equal; test_calculus",
    "numpy.setdiff1d": "equal entries must stay equal; test_calculus",
    "numpy.spacing": "steps of the size of rounding; test_ufuncs",
    "numpy.row_stack": "NumPy warns of it; it has the rule of vstack",
    "numpy.random._generator.choice": "draws; test_random",
    "numpy.random._generator.permutation": "draws; test_random",
    "numpy.random.choice": "draws; test_random",
    "numpy.random.permutation": "draws; test_random",
    "numpy.generic.diagonal": "no scalar has axes; test_methods",
    "numpy.generic.swapaxes": "no scalar has axes; test_methods",
    "numpy.generic.trace": "no scalar has axes; test_methods",
    "rules_numpy._declare.namespaces.pole": "infinite; test_zeros_before_infinities",
    "rules_numpy.linalg.equal_values.equal_groups": "a mask; test_ties",
}


@pytest.mark.parametrize(
    "level", ["quick", pytest.param("full", marks=pytest.mark.nightly)]
)
def test_every_rule_is_checked(level):
    """The tests are run with a `check` that only notes what it is asked to check.

    Those of every day must check all rules at the first level, with those that wait
    since they are dear (`tests/repeats.py`).
    """
    unchecked = reported("recorder", level, after="unchecked")
    assert [name for name in unchecked if name not in OTHERWISE] == []
    assert [name for name in OTHERWISE if name not in unchecked] == []
