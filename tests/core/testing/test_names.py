"""The package's front: its names, loaded at first use."""

import subprocess
import sys

import pytest


def test_importing_the_tester_needs_no_numpy():
    code = (
        "import sys, rules_core; assert 'rules_core.testing' not in sys.modules;"
        "import rules_core.testing; rules_core.testing.isolated_rules;"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there():
    import rules_core.testing as tester

    assert sorted(tester.__all__) == tester.__all__
    assert all(getattr(tester, name) is not None for name in tester.__all__)
    with pytest.raises(AttributeError, match="no attribute 'check_nothing'"):
        _ = tester.check_nothing
