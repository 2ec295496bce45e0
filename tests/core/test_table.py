"""Tables: rules that come, go, replace each other, and are looked up meanwhile."""

import threading

import pytest

from rules_core import (
    RuleClashError,
    debug_mode,
    frule,
    no_rrule,
    opt_out,
    rrule,
)
from rules_core._dispatch.table import CHANGES
from rules_core.testing import isolated_rules
from tests.core.named_rules import define, one, ran


def test_registering_drops_what_was_cached():
    define(one, object, name="any")
    assert ran(one, 1.0) == "any"
    define(one, float, name="float")
    assert ran(one, 1.0) == "float"


def test_a_second_definition_from_elsewhere_is_an_error():
    define(one, float, name="first")
    with pytest.raises(RuleClashError) as caught:
        define(one, float, name="second")
    text = str(caught.value)
    assert text.startswith("rrule for one(float) is defined twice: first at named_r")
    assert "and second at named_rules.py:" in text
    assert ran(one, 1.0) == "first"


def test_registering_while_eight_threads_look_up():
    """No look-up sees a half-made table, and the last rule wins at the end."""
    classes = [type(f"T{i}", (float,), {}) for i in range(20)]
    errors: list[BaseException] = []
    start, stop = threading.Barrier(9), threading.Event()

    def look_up():
        start.wait()
        try:
            while not stop.is_set():
                for cls in classes:
                    name = ran(one, cls(1.0))
                    assert name in ("any", cls.__name__), name
        except BaseException as error:
            errors.append(error)

    define(one, object, name="any")
    threads = [threading.Thread(target=look_up) for _ in range(8)]
    for thread in threads:
        thread.start()
    start.wait()
    for cls in classes:
        define(one, cls, name=cls.__name__)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert [ran(one, cls(1.0)) for cls in classes] == [cls.__name__ for cls in classes]


def run_cell(number, source):
    """What a notebook does: one module, a file name for every text of a cell."""
    scope = {"__name__": "__main__", "rrule": rrule, "one": one, "opt_out": opt_out}
    exec(compile(source, f"cell{number}.py", "exec"), scope)


CELL = "@rrule.define(one)\ndef my_rrule(x: {}): return {!r}, abs"


def test_a_cell_that_is_run_again_with_other_types_replaces_its_rule():
    run_cell(1, CELL.format("float", "old"))
    with pytest.warns(UserWarning, match=r"\(float\) at cell1.*name of its own"):
        run_cell(2, CELL.format("float | int", "new"))
    assert (ran(one, 1.0), ran(one, 1)) == ("new", "new")
    with pytest.warns(UserWarning, match=r"replaces the rule of that name"):
        run_cell(3, CELL.format("int", "newer"))
    assert (ran(one, 1.0), ran(one, 1)) == (None, "newer")


def test_rules_of_one_name_in_one_file_live_together():
    run_cell(1, CELL.format("float", "a") + "\n" + CELL.format("int", "b"))
    assert (ran(one, 1.0), ran(one, 1)) == ("a", "b")


def test_what_has_no_name_of_its_own_is_never_the_same():
    run_cell(1, CELL.format("float", "a").replace("my_rrule", "_"))
    run_cell(2, CELL.format("int", "b").replace("my_rrule", "_"))
    assert (ran(one, 1.0), ran(one, 1)) == ("a", "b")
    run_cell(3, "opt_out(rrule, one, str)")
    run_cell(4, "opt_out(rrule, one, list)")
    assert no_rrule(one, str)
    assert no_rrule(one, list)


def test_changes_are_counted():
    """Whoever keeps what follows from many tables sees that one has changed."""

    def f(x):
        return x

    def counted(change):
        before = CHANGES.count
        change()
        return CHANGES.count > before

    assert not counted(lambda: rrule(f, 1.0))
    with isolated_rules():
        assert counted(lambda: rrule.define(f)(lambda x: (x, lambda dy: (None, dy))))
        assert not counted(lambda: rrule(f, 1.0))
        assert counted(lambda: frule.define(f)(lambda dots, x: (x, dots[1])))
        assert counted(lambda: opt_out(rrule, f, str))
        before = CHANGES.count
    assert CHANGES.count > before, "what was isolated is taken back"
    with debug_mode():
        assert CHANGES.count > before
        before = CHANGES.count
    assert CHANGES.count > before
