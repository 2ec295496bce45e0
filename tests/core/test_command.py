"""The command `rules-core`: each subcommand, its output and its exit status."""

import json
import re
import subprocess
import sys

import pytest

from rules_core._command.main import main

SUBJECT = """
import rules_core as rc

def cube(x):
    return x**3

def wrong(x):
    return x**3

rc.scalar_rule(cube, lambda y, x: (3 * x**2,))
rc.scalar_rule(wrong, lambda y, x: (2 * x**2,))
"""


@pytest.fixture
def subject(tmp_path, monkeypatch):
    (tmp_path / "commanded.py").write_text(SUBJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    yield "commanded"
    sys.modules.pop("commanded", None)


@pytest.fixture
def run(capsys):
    def run(*words):
        status = main(words)
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_doctor_shows_versions_frameworks_and_packs(run):
    status, out, _ = run("doctor")
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert {"Versions", "Frameworks"} <= {row[0] for row in rows}
    assert any(row[0] == "numpy" and row[2:4] == ["at", "least"] for row in rows)
    assert any(row[0] == "rules_scipy.special" and row[2] == "rules," for row in rows)
    assert out.endswith("Nothing needs repair.\n")


def test_doctor_tells_of_what_is_missing_too_old_or_broken(run, monkeypatch):
    from rules_core._command import doctor

    lowest = [("numpy", "99.0", "numpy"), ("nothing_there", "1", "scipy")]
    monkeypatch.setattr(doctor, "_requirements", lambda: iter(lowest))
    monkeypatch.setenv("RULES_CORE_PACKS", "-scipy")
    monkeypatch.setenv("RULES_CORE_DEBUG", "1")
    status, out, _ = run("doctor")
    assert status == 1
    assert "too old: pip install 'numpy>=99.0'" in out
    assert "nothing_there is not installed: pip install 'rules-core[scipy]'" in out
    assert "RULES_CORE_PACKS=-scipy selects the packs" in out
    assert "RULES_CORE_DEBUG is set: every rule is checked" in out
    assert re.search(r"^  rules_scipy.special +off", out, re.MULTILINE)


def test_rules_by_name_module_and_mode(run):
    status, out, _ = run("rules", "gamma*", "--module", "scipy.special")
    assert status == 0
    kinds = {tuple(line.split()[:2]) for line in out.splitlines()[:-1]}
    assert {("rrule", "gammainc"), ("frule", "gammaln")} <= kinds
    status, out, _ = run("rules", "sin", "--module", "math", "--mode", "rrule")
    names = [line.split()[1] for line in out.splitlines()[:-1]]
    assert set(names) == {"asin", "asinh", "isinf", "sin", "sinh"}
    assert "frule" not in out
    assert run("rules", "no_such_function_anywhere")[:2] == (1, "0 rules\n")


def test_explain(run, subject):
    status, out, _ = run("explain", f"{subject}:cube", "2.0")
    assert status == 0
    assert out.startswith("rrule for cube(float): ")


def test_explain_without_arguments_lists_the_rules(run, subject):
    status, out, _ = run("explain", f"{subject}:cube")
    assert status == 0
    kinds = [line.split()[:3] for line in out.splitlines()[:-1]]
    assert kinds == [["frule", "cube", "any"], ["rrule", "cube", "any"]]


def test_check_passes(run, subject):
    status, out, _ = run("check", f"{subject}:cube", "--args", "2.0", "--hosts", "none")
    assert status == 0
    assert "passed   rrule.derivative" in out


def test_check_fails(run, subject):
    words = ("--args", "2.0", "--hosts", "none", "--level", "full")
    status, out, _ = run("check", f"{subject}:wrong", *words)
    assert status == 1
    assert "failed   rrule.derivative" in out
    assert "rule: rrule <lambda> at commanded.py:" in out


def test_coverage(run):
    status, out, _ = run("coverage", "math", "--json")
    assert status == 0
    table = {entry["name"]: entry for entry in json.loads(out)["math"]}
    assert table["sin"] == {
        "name": "sin",
        "reverse": "rule",
        "forward": "rule",
        "pack": "rules_numpy",
        "calls": None,
    }
    assert table["floor"]["reverse"] == "constant"
    _, out, _ = run("coverage", "math")
    assert (
        out.splitlines()[0].split() == "function reverse forward rules of calls".split()
    )
    assert "functions have rules" in out


def test_coverage_of_primitives(run):
    _, out, _ = run("coverage", "scipy.special", "--json")
    table = {entry["name"]: entry for entry in json.loads(out)["scipy.special"]}
    assert table["kv"]["calls"] == "host"


def test_bench(run, subject):
    words = ("--args", "2.0", "--seconds", "0.01")
    status, out, _ = run("bench", f"{subject}:cube", *words)
    assert status == 0
    names = [re.split("  +", line)[0] for line in out.splitlines()]
    assert names == ["the function", "rrule", "its pullback", "frule"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("explain", "math"),
            "a function must be module:name, such as math:sin, but got 'math'.",
        ),
        (("explain", "math:sim"), "math:sim: math has no 'sim'. Is it 'sin'?"),
        (("explain", "math:pi"), "math:pi must be callable, but got 3.14159265358"),
        (
            ("explain", "math:sin", "1.0", "2.0"),
            "sin does not take these arguments: sin() takes 1 positional argument",
        ),
        (
            ("check", "math:sin", "--args", "1.0, oops"),
            "cannot read the arguments '1.0, oops': NameError: name 'oops' is not",
        ),
        (("coverage", "no_such_module"), "cannot import 'no_such_module': No module"),
        (("bench", "math:sin"), "math:sin does not take these arguments: math.sin()"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(run, words, text):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"rules-core: {text}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("",), "bench check completion coverage doctor explain rules"),
        (("co", "co"), "completion coverage"),
        (("check", "--le"), "--level"),
        (("explain", "math:sin"), "math:sin math:sinh"),
        (("coverage", "scipy.spec"), "scipy.special"),
        (("explain", "scip"), "scipy"),
        (("rules", "x"), ""),
    ],
)
def test_completion_offers_words(run, words, expected):
    assert run("complete", *words)[1].split() == expected.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_the_command(run, shell):
    assert "rules-core complete" in run("completion", shell)[1]


def test_bash_reads_its_script(run):
    script = run("completion", "bash")[1]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_as_a_module():
    command = [sys.executable, "-m", "rules_core", "completion", "fish"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("complete -c rules-core")
