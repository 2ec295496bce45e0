"""What runs every day, what waits for its slice, and what that may cost."""

from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random

import pytest

from tests.covering import covering, each_kth, in_turn
from tests.repeats import LIST, PACKAGES, is_listed, kept, read, written
from tests.slices import part_of, read_slice

PLUGINS = ("covering", "slices", "budget", "waiting")
TIERS = [word for name in PLUGINS for word in ("-p", f"tests.{name}")]

PROJECT = """
import pytest

@pytest.mark.covering
@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b", range(3))
@pytest.mark.parametrize("c", range(3))
def test_product(a, b, c):
    pass

@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b", range(3))
def test_each_value(a, b):
    pass

@pytest.mark.covering(every=3)
@pytest.mark.parametrize("a", range(7))
def test_each_third(a):
    pass

@pytest.mark.covering(each=lambda case: case["a"] // 3)
@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("b", range(2))
def test_each_group(a, b):
    pass

@pytest.mark.parametrize("a", range(5))
def test_not_sampled(a):
    pass

@pytest.mark.nightly
def test_heavy():
    pass
"""


@pytest.fixture
def run(pytester):
    """Run pytest on a small project with the plugins of this suite."""
    marks = "".join(f"    {name}: x\n" for name in ("covering", "full", "nightly"))
    pytester.makeini(f"[pytest]\nmarkers =\n{marks}")
    pytester.makepyfile(PROJECT)
    return lambda *args: pytester.runpytest_inprocess(*TIERS, "-v", *args)


def passed(result):
    """The names of the tests that a run met."""
    return [line.split()[0] for line in result.outlines if " PASSED" in line]


@pytest.mark.parametrize("strength", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(3,), (4, 3), (2, 5, 3), (3, 3, 2, 4)])
def test_every_combination_is_met(sizes, strength):
    rows = list(product(*map(range, sizes)))
    strength = min(strength, len(sizes))
    chosen = [rows[index] for index in covering(rows, strength)]
    for axes in combinations(range(len(sizes)), strength):
        met = {tuple(row[axis] for axis in axes) for row in chosen}
        assert met == set(product(*(range(sizes[axis]) for axis in axes)))


@pytest.mark.parametrize("sizes", [(7, 3, 5), (6, 3, 2), (9, 2, 7), (4, 1, 3)])
def test_each_two_values_meet_in_turn(sizes):
    rows = in_turn(*map(range, sizes))
    assert len(rows) == sizes[0] * max(sizes[1:])
    for one, other in combinations(range(3), 2):
        met = {(row[one], row[other]) for row in rows}
        assert met == set(product(range(sizes[one]), range(sizes[other])))


def test_a_sample_of_a_product_is_small():
    rows = list(product(range(10), range(4), range(3), range(3)))
    assert len(covering(rows)) < 60


def test_rows_that_are_no_product_are_covered_too():
    rows = [("a", 1), ("b", 2), ("a", 3)]
    assert covering(rows) == [0, 1, 2]


@pytest.mark.parametrize(("count", "step"), [(1, 4), (3, 4), (7, 3), (12, 4)])
def test_each_kth_is_spread_and_never_nothing(count, step):
    names = [f"test_{number}" for number in range(50)]
    chosen = [each_kth(count, step, name) for name in names]
    assert all(b - a == step for some in chosen for a, b in pairwise(some))
    assert {len(some) for some in chosen} <= {max(count // step, 1), -(-count // step)}
    assert {index for some in chosen for index in some} == set(range(count))


def test_everyday_and_the_rest_are_the_whole(run):
    whole = passed(run())
    everyday = passed(run("-m", "not full and not nightly"))
    rest = passed(run("-m", "full or nightly"))
    assert sorted(everyday + rest) == sorted(whole)
    assert len(whole) == 36 + 12 + 7 + 10 + 5 + 1
    products = [name for name in everyday if "test_product" in name]
    assert 12 <= len(products) < 20
    assert len([name for name in everyday if "each_value" in name]) == 4
    assert len([name for name in everyday if "each_third" in name]) in (2, 3)
    assert len([name for name in everyday if "each_group" in name]) == 2
    assert len([name for name in everyday if "not_sampled" in name]) == 5


def test_slices_run_each_test_once(run):
    rest = ("-m", "full or nightly")
    whole = passed(run(*rest))
    parts = [passed(run(*rest, "--slice", f"{k}/3")) for k in (0, 1, 2)]
    assert sorted(name for part in parts for name in part) == sorted(whole)
    assert all(parts)


@pytest.mark.parametrize("text", ["6/6", "-1/6", "1", "a/b", ""])
def test_a_slice_that_does_not_exist_is_refused(text):
    with pytest.raises(pytest.UsageError, match="K/N"):
        read_slice(text)


def test_names_that_differ_between_processes_are_refused(run, pytester):
    pytester.makepyfile(
        test_addresses="""
        import pytest
        @pytest.mark.parametrize("x", [object()], ids=repr)
        def test_object(x): pass
        """
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*must name their parameters*test_object*"])


def test_parts_are_balanced():
    counts = [0] * 6
    for index in range(6000):
        counts[part_of(f"tests/test_a.py::test[{index}]", 6)] += 1
    assert min(counts) > 900


def test_a_budget_is_held(run, pytester):
    assert run("--budget", "100").ret == 0
    pytester.makepyfile(
        test_dear="""
        import time
        def test_loop():
            start = time.process_time()
            while time.process_time() < start + 0.3: pass
        """
    )
    over = run("--budget", "100", "--file-budget", "0.05")
    assert over.ret == 1
    over.stdout.fnmatch_lines(["*OVER BUDGET: test_dear.py took*"])
    assert run("--budget", "0.05").ret == 1


def test_a_run_says_what_it_left_out(run):
    result = run("-m", "not full and not nightly")
    result.stdout.fnmatch_lines(["not run: * tests; `make test-full` adds them"])
    result.stdout.fnmatch_lines(["not run: 1 tests; `make test-nightly` adds them"])
    assert "not run" not in str(run().stdout)


# Tests that start processes which talk to each other, all tests of the engine anew, and
# programs that numba takes minutes to compile.
WAITING = {"test_distributed.py", "test_both_tiers.py", "test_compiled_calls.py"}


def test_every_file_has_an_everyday_test(request):
    """No mechanism waits as a whole for its slice."""
    option = request.config.option
    if option.keyword or any("::" in name for name in request.config.args):
        pytest.skip("some tests of a file were chosen")
    met = {item.path for item in request.session.items}
    waiting = request.config.pluginmanager.get_plugin("waiting").files - met
    names = {path.relative_to(ROOT).as_posix(): path.name for path in waiting}
    tests = {own for name, own in names.items() if not name.startswith(PACKAGES)}
    assert tests <= WAITING


def test_a_file_that_waits_as_a_whole_is_known(run, pytester):
    pytester.makepyfile(
        test_later="""
        import pytest
        @pytest.mark.full
        def test_of_a_slice(): pass
        """
    )
    pytester.makepyfile(
        test_told="""
        def test_files(request):
            plugin = request.config.pluginmanager.get_plugin("waiting")
            met = {item.path for item in request.session.items}
            assert [path.name for path in plugin.files - met] == ["test_later.py"]
        """
    )
    assert run("-m", "not full and not nightly").ret == 0


def test_processes_that_run_tests_tell_what_they_left_out(run):
    result = run("-m", "not full and not nightly", "-n", "1")
    result.stdout.fnmatch_lines(["not run: 1 tests; `make test-nightly` adds them"])


# what repeats others

ROOT = Path(__file__).parents[1]


def test_listed_tests_exist():
    """A test that was renamed would run every day, or a file would wait unseen."""
    unknown = []
    for file, names in read(LIST.read_text(encoding="utf-8")).items():
        source = (ROOT / file).read_text(encoding="utf-8")
        functions = {n.partition("[")[0].rpartition("::")[2] for n in names}
        unknown += [f"{file}::{f}" for f in functions if f"def {f}(" not in source]
    assert not unknown


def test_a_list_is_read_as_it_was_written():
    everything = [
        "a.py::f[1]",
        "a.py::f[2]",
        "a.py::g[1]",
        "a.py::g[2]",
        "b.md",
        "c::h",
    ]
    left = ["a.py::f[1]", "a.py::f[2]", "a.py::g[1]", "b.md"]
    listed = read(written(left, everything))
    assert listed == {"a.py": frozenset({"f", "g[1]"}), "b.md": frozenset()}
    found = [name for name in everything if is_listed(name, listed)]
    assert found == left
    assert is_listed("b.md::line:3,column:1", listed)


def test_each_line_is_run_by_what_is_kept():
    """A thousand random suites: what is kept runs all lines that are worth it."""
    for seed in range(1000):
        draw = Random(seed)
        lines = {f"f::{i}": set(draw.sample(range(40), 8)) for i in range(20)}
        costs = {name: draw.choice([0.01, 0.1, 0.12]) for name in lines}
        chosen = kept(costs, lines)
        run = {line for name in chosen for line in lines[name]}
        assert run == {line for found in lines.values() for line in found}
        assert {name for name in costs if costs[name] < 0.05} <= chosen


def test_the_examples_of_a_document_are_in_one_slice():
    names = [f"docs/a.md::line:{i},column:1" for i in range(50)]
    assert len({part_of(name, 6) for name in names}) == 1
