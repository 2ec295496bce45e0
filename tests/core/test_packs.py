"""Packs: which are switched on, when they are imported, how they fail."""

import gc
import importlib
import sys
import threading
import types
from functools import partial
from importlib.metadata import EntryPoint

import pytest

import rules_core as rc
from rules_core._dispatch.packs import Packs, allowed_packs
from rules_core._dispatch.registry import isolated_rules


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, {"numpy", "scipy"}),
        ("none", set()),
        ("", set()),
        ("scipy", {"scipy"}),
        ("numpy, scipy", {"numpy", "scipy"}),
        ("-scipy", {"numpy"}),
        ("-scipy,-numpy", set()),
        ("scipy.linalg", {"scipy.linalg"}),
        ("scipy,-scipy.linalg", {"scipy", "scipy.fft"}),
    ],
    ids=lambda x: str(sorted(x) if isinstance(x, set) else x),
)
def test_the_environment_variable(setting, expected):
    names = {"numpy", "scipy"}
    if "." in (setting or ""):
        names |= {"scipy.linalg", "scipy.fft"}
    assert allowed_packs(setting, names) == expected


class Point:
    """An entry point."""

    def __init__(self, name, value, load):
        self.name, self.value, self.module, self.load = name, value, value, load


def packs_of(*points):
    packs = Packs()
    packs._points = {}
    for point in points:
        packs._points.setdefault(point.name, []).append(point)
    return packs


def key_of(module):
    def key(x):
        return x

    key.__module__ = module
    return key


def test_a_pack_is_imported_at_the_first_look_up_and_once():
    loaded = []
    packs = packs_of(Point("lib", "pack", lambda: loaded.append(1)))
    packs.ensure(key_of("elsewhere.sub"))
    assert loaded == []
    packs.ensure(key_of("lib.sub"))
    packs.ensure(key_of("lib"))
    assert loaded == [1]


def loading(*names):
    """Packs for modules, and the names of those that are imported."""
    loaded = []
    points = [Point(n, f"pack_{n}", partial(loaded.append, n)) for n in names]
    return packs_of(*points), loaded


def test_a_key_without_module_brings_in_the_packs_of_imported_modules():
    packs, loaded = loading("math", "email.no_such_module", "cmath")
    packs.ensure(key_of(None))
    packs.ensure(key_of(None))
    assert loaded == ["math", "cmath"]


def test_a_key_without_module_is_looked_for_in_the_modules(monkeypatch):
    packs, loaded = loading("math", "cmath")
    key = key_of(None)
    monkeypatch.setattr("cmath.key", key, raising=False)
    packs.ensure(key)
    assert loaded == ["cmath"]


def test_a_function_that_was_found_is_not_looked_for_again(monkeypatch):
    packs, _ = loading("math")
    key = key_of(None)
    monkeypatch.setattr("math.key", key, raising=False)
    packs.ensure(key)
    monkeypatch.setattr(packs, "_serving", lambda *_: pytest.fail("looked for again"))
    packs.ensure(key)


def test_a_function_that_no_module_holds_is_not_kept():
    packs, _ = loading("math")
    key = key_of(None)
    count = sys.getrefcount(key)
    packs.ensure(key)
    assert sys.getrefcount(key) == count


def test_a_pack_of_a_submodule_waits_for_its_functions():
    packs, loaded = loading("lib", "lib.one", "lib.two.three")
    packs.ensure(key_of("lib.zero"))
    assert loaded == ["lib"]
    packs.ensure(key_of("lib.one._private"))
    packs.ensure(key_of("lib.two"))
    assert loaded == ["lib", "lib.one"]
    packs.ensure_module("lib.two.three")
    assert loaded == ["lib", "lib.one", "lib.two.three"]


def test_a_library_s_packs_are_those_of_its_modules():
    packs, loaded = loading("lib.one", "lib.two", "library")
    assert packs.names() == ["lib", "library"]
    assert packs.modules("lib") == ["pack_lib.one", "pack_lib.two"]
    packs.load("lib")
    assert loaded == ["lib.one", "lib.two"]


def test_two_packs_may_serve_one_module():
    loaded = []
    packs = packs_of(
        Point("lib", "first", lambda: loaded.append(1)),
        Point("lib", "second", lambda: loaded.append(2)),
    )
    packs.ensure(key_of("lib"))
    assert loaded == [1, 2]


def test_the_pack_of_a_library_that_is_not_installed_is_left_alone(monkeypatch):
    def fail():
        raise ModuleNotFoundError

    points = [Point("no_such_library", "pack", fail), Point("math", "pack", fail)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    assert Packs().names() == ["math"]


def test_a_pack_that_fails_to_import_is_an_error_each_time():
    def fail():
        message = "no such table"
        raise ValueError(message)

    packs = packs_of(Point("lib", "broken_pack", fail))
    for _ in range(2):
        with pytest.raises(rc.PackImportError) as caught:
            packs.ensure(key_of("lib"))
    assert str(caught.value) == (
        "the rule pack 'lib' (broken_pack) failed to import: ValueError: no such "
        "table. Repair or uninstall it, or switch it off with RULES_CORE_PACKS=-lib."
    )
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_what_it_was_after_an_import(enabled):
    def fail():
        assert not gc.isenabled()
        raise ValueError

    packs = packs_of(Point("lib", "broken_pack", fail), Point("own", "pack", list))
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        with pytest.raises(rc.PackImportError):
            packs.ensure(key_of("lib"))
        assert gc.isenabled() is enabled
        packs.ensure(key_of("own"))
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if before else gc.disable()


def test_a_pack_may_look_up_rules_while_it_is_imported():
    packs = packs_of()
    point = Point("lib", "pack", lambda: packs.ensure(key_of("lib")))
    packs._points["lib"] = [point]
    packs.ensure(key_of("lib"))


def test_threads_wait_for_the_pack_that_one_of_them_imports(tmp_path, monkeypatch):
    (tmp_path / "slow_pack.py").write_text(
        "import time, slow_notes\n"
        "slow_notes.packs.ensure(slow_notes.key)\n"  # a look-up by the importing thread
        "time.sleep(0.3)\n"
        "slow_notes.loaded.append(1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("slow_library", "slow_pack", "rules_core.packs")
    notes = types.ModuleType("slow_notes")
    notes.packs, notes.key = packs_of(point), key_of("slow_library.sub")
    notes.loaded = []
    monkeypatch.setitem(sys.modules, "slow_notes", notes)
    seen = []

    def look_up():
        notes.packs.ensure(notes.key)
        seen.append(len(notes.loaded))

    threads = [threading.Thread(target=look_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1, 1, 1, 1]


def test_a_clash_between_packs_names_both():
    def target(x):
        return x

    def rule_in(module):
        source = "def rule(x):\n    return x, abs\n"
        namespace = {"__name__": module}
        exec(compile(source, f"{module}.py", "exec"), namespace)
        return namespace["rule"]

    with isolated_rules():
        rc.rrule.define(target)(rule_in("pack_a"))
        with pytest.raises(rc.RuleClashError) as caught:
            rc.rrule.define(target)(rule_in("pack_b"))
    assert "rule at pack_a.py:1 and rule at pack_b.py:1" in str(caught.value)


def test_rules_of_modules_imported_inside_isolation_stay(tmp_path, monkeypatch):
    (tmp_path / "late_rules.py").write_text(
        "import rules_core as rc\n"
        "def late(x): return x\n"
        "@rc.rrule.define(late)\n"
        "def late_rrule(x): return x, abs\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with isolated_rules():
        import late_rules

        rc.frule.define(late_rules.late)(lambda tangents, x: (x, x))
    assert rc.rrule(late_rules.late, 1.0) is not None
    assert rc.frule((None, 1.0), late_rules.late, 1.0) is None
    assert isinstance(sys.modules["late_rules"], types.ModuleType)


def test_rules_that_a_package_lends_among_its_modules_stay(tmp_path, monkeypatch):
    package = tmp_path / "lent_rules"
    package.mkdir()
    (package / "written.py").write_text(
        "def f_rrule(x):\n    return x, lambda dy: (None, dy)\n"
    )
    (package / "__init__.py").write_text(
        "from lent_rules.written import f_rrule\n"
        "from rules_core import rrule\n"
        "def f(x):\n    return x\n"
        "rrule.define(f)(f_rrule)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with isolated_rules():
        lent = importlib.import_module("lent_rules")
    assert rc.rrule(lent.f, 1.0) is not None
    with isolated_rules():
        lent.g = lambda x: x
        rc.rrule.define(lent.g)(lent.written.f_rrule)
    assert rc.rrule(lent.g, 1.0) is None
