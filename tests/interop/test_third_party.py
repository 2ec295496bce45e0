"""A distribution that nobody here knows adds a pack and an adapter by installing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SOURCE = Path(__file__).parent / "toyhost"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which the toy distribution was installed, as pip installs any."""
    work = tmp_path_factory.mktemp("third-party")
    shutil.copytree(SOURCE, work / "source")
    target = work / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*command, str(work / "source")], check=True)
    return target


@pytest.fixture
def run(site):
    """Run a program in a fresh interpreter that has the distribution; its output."""

    def run_program(code, **environment):
        path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        settings = {k: v for k, v in os.environ.items() if "RULES_CORE" not in k}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", dedent(code)],
            env={**settings, "PYTHONPATH": path, **environment},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run_program


def test_the_pack_is_imported_at_the_first_look_up(run):
    lines = run("""
        import sys, rules_core as rc, toyhost
        print("toyhost_rules" in sys.modules)
        y, pullback = rc.rrule(toyhost.cube, 2.0)
        print(y, pullback(1.0)[1])
        print("toyhost_rules" in sys.modules)
    """)
    assert lines == ["False", "8.0 12.0", "True"]


def test_the_pack_can_be_switched_off(run):
    lines = run(
        """
        import sys, rules_core as rc, toyhost
        print(rc.rrule(toyhost.cube, 2.0), "toyhost_rules" in sys.modules)
        """,
        RULES_CORE_PACKS="-toyhost",
    )
    assert lines == ["None False"]


def test_a_primitive_reaches_the_adapter(run):
    lines = run("""
        import rules_core as rc
        from toyhost import Box, gradients

        @rc.primitive
        def double(x):
            return 2 * x

        @rc.rrule.define(double)
        def double_rrule(x):
            return double(x), lambda dy: (rc.NoTangent(), 2 * dy)

        x = Box(3.0, tracked=True)
        y = double(x)
        print(y.value, *gradients([y], [1.0], [x]))
    """)
    assert lines == ["6.0 2.0"]


def test_the_adapter_is_not_imported_for_other_arrays(run):
    lines = run("""
        import sys, rules_core as rc, numpy as np

        @rc.primitive
        def double(x):
            return 2 * x

        print(double(np.float64(3.0)), "toyhost.adapter" in sys.modules)
    """)
    assert lines == ["6.0 False"]


def test_a_rule_of_the_core_serves_the_third_party_host(run):
    lines = run("""
        import rules_core as rc
        from toyhost import Box, gradients

        @rc.primitive
        def square(x):
            return x * x

        rc.scalar_rule(square, lambda y, x: (2 * x,))
        x = Box(3.0, tracked=True)
        y = square(x)
        print(y.value, *gradients([y], [0.5], [x]))
        print(rc.ignore_derivatives(x).tracked)
    """)
    assert lines == ["9.0 3.0", "False"]


def test_a_missing_rule_is_a_clear_error_there_too(run):
    lines = run("""
        import rules_core as rc
        from toyhost import Box

        @rc.primitive(host=True)
        def square(x):
            return x * x

        rc.opt_out(rc.rrule, square, object)
        try:
            square(Box(3.0, tracked=True))
        except rc.RuleNotFound as error:
            print(str(error).splitlines()[0])
    """)
    assert lines == ["no rrule applies to square(ndarray)."]


def test_the_host_keeps_what_hosts_promise(run):
    lines = run("""
        from toyhost.adapter import adapter
        from rules_core.testing import check_adapter

        print(check_adapter(adapter).summary)
    """)
    assert lines == ["59 passed, 6 not run"]
