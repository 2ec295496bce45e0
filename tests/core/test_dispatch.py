"""Which rule fits: types, unions, ABCs, `Array`, ambiguities, configs, clashes."""

import abc
import collections.abc
import threading
import typing
import warnings

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    AmbiguousRulesError,
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleClashError,
    RuleConfig,
    RuleDefinitionError,
    no_rrule,
    opt_out,
    rrule,
)
from rules_core.testing import isolated_rules


@pytest.fixture(autouse=True)
def _own_tables():
    with isolated_rules():
        yield


def one(x):
    return x


def two(x, y):
    return x


# The spellings that linters would have us modernise: authors still write them.
UNION = eval("typing.Union[float, int]", {"typing": typing})
OPTIONAL = eval("typing.Optional[float]", {"typing": typing})


class Forward(RuleConfig, HasForwardsMode, NoReverseMode):
    pass


class Reverse(RuleConfig, HasReverseMode, NoForwardsMode):
    pass


class Both(RuleConfig, HasForwardsMode, HasReverseMode):
    pass


def define(f, *types, name, **kw):
    """A rule whose result is its own name."""
    names = [f"x{i}" for i in range(len(types))]
    head = ["config"] if "config" in kw else []

    def rule(*args):
        return name, None

    import inspect

    parameters = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in head
    ] + [
        inspect.Parameter(
            n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation
        )
        for n, annotation in zip(names, types, strict=True)
    ]
    rule.__signature__ = inspect.Signature(parameters)
    rule.__qualname__ = name
    return rrule.define(f, **kw)(rule)


def ran(*call, **kw):
    found = rrule(*call, **kw)
    return None if found is None else found[0]


def test_the_most_specific_type_wins():
    define(one, object, name="any")
    define(one, float, name="float")
    assert ran(one, 1.0) == "float"
    assert ran(one, 1) == "any"


def test_a_subclass_fits_its_base():
    define(one, float, name="float")
    assert ran(one, np.float64(1.0)) == "float"
    assert ran(one, True) is None


@pytest.mark.parametrize(
    "annotation",
    [float | int, UNION, OPTIONAL, "float | None"],
    ids=["pipe", "Union", "Optional", "text"],
)
def test_unions(annotation):
    if annotation == "float | None":
        annotation = float | None
    define(one, annotation, name="union")
    assert ran(one, 1.0) == "union"
    assert ran(one, "a") is None


def test_a_union_is_less_specific_than_its_members():
    define(one, float | int, name="union")
    define(one, float, name="float")
    assert (ran(one, 1.0), ran(one, 1)) == ("float", "union")


def test_array_covers_arrays_and_numpy_scalars_but_no_python_numbers():
    define(one, rc.Array, name="array")
    assert ran(one, np.ones(2)) == "array"
    assert ran(one, np.float32(1)) == "array"
    assert ran(one, 1.0) is None
    define(one, np.ndarray, name="ndarray")
    assert ran(one, np.ones(2)) == "ndarray"


def test_two_alternatives_of_one_rule_do_not_clash():
    define(one, float | rc.Array, name="both")
    assert ran(one, np.float64(1.0)) == "both"


def test_abstract_base_classes_and_late_registration():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self):
            """Of the surface."""

    class Disc:
        pass

    define(one, Shape, name="shape")
    assert ran(one, Disc()) is None
    Shape.register(Disc)
    assert ran(one, Disc()) == "shape"
    define(one, collections.abc.Sequence, name="sequence")
    assert ran(one, [1]) == "sequence"


def test_ambiguity_is_raised_by_the_look_up_and_can_be_resolved_later():
    define(two, float, object, name="left")
    define(two, object, float, name="right")
    assert ran(two, 1.0, "a") == "left"
    with pytest.raises(AmbiguousRulesError) as caught:
        rrule(two, 1.0, 2.0)
    text = str(caught.value)
    assert text.startswith("rrule for two(float, float) is ambiguous: ")
    assert "left(float, any) at test_dispatch.py:" in text
    assert "right(any, float) at test_dispatch.py:" in text
    assert text.endswith("Define a rule that is more specific than both.")
    define(two, float, float, name="middle")
    assert ran(two, 1.0, 2.0) == "middle"


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
    assert text.startswith("rrule for one(float) is defined twice: first at test_dis")
    assert "and second at test_dispatch.py:" in text
    assert ran(one, 1.0) == "first"


@pytest.mark.parametrize(
    ("annotation", "cure"),
    [
        (list[float], "Dispatch sees classes only: write list."),
        (3, "Leave it out to accept any value."),
        (typing.Literal["a"], "Leave it out to accept any value."),
    ],
    ids=["generic", "value", "literal"],
)
def test_an_annotation_that_is_no_type(annotation, cure):
    with pytest.raises(RuleDefinitionError) as caught:
        define(one, annotation, name="bad")
    line = str(caught.value)
    assert line.startswith("rrule bad for one at test_dispatch.py:")
    assert (
        ": parameter 'x0' must be annotated with a class, an ABC, Array or a " in line
    )
    assert line.endswith(f"but got {annotation!r}. {cure}")


def test_annotated_types_are_their_types():
    define(one, typing.Annotated[float, "in metres"], name="float")
    assert (ran(one, 1.0), ran(one, 1)) == ("float", None)


class HasShape(typing.Protocol):
    shape: tuple[int, ...]


def test_an_annotation_that_cannot_be_asked():
    with pytest.raises(RuleDefinitionError) as caught:
        define(one, HasShape, name="bad")
    text = str(caught.value)
    assert ": parameter 'x0': dispatch asks for subclasses of HasShape, whi" in text
    assert text.endswith("). Use another class, or leave the annotation out.")


def test_an_annotation_that_names_nothing():
    def rule(x):
        return x, None

    rule.__annotations__["x"] = "Nowhere"

    with pytest.raises(RuleDefinitionError, match=r"name 'Nowhere' is not defined"):
        rrule.define(one)(rule)


def test_a_rule_that_can_never_fit():
    with pytest.raises(RuleDefinitionError) as caught:
        define(two, float, name="short")
    assert str(caught.value).endswith(
        "takes 1 arguments, but in normal form two has 2: (x, y). The rule must take "
        "all of them, also those with a default."
    )


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x):
        return x


def test_an_unhashable_key():
    key = Unhashable()
    assert rrule(key, 1.0) is None
    with pytest.raises(RuleDefinitionError) as caught:
        define(key, object, name="rule")
    assert str(caught.value) == (
        "rrule.define: a rule key must be hashable, but got an instance of "
        "Unhashable, which is not. Define the rule for Unhashable.__call__ instead."
    )


def test_a_key_that_is_not_callable():
    with pytest.raises(RuleDefinitionError) as caught:
        rrule.define(3)
    assert str(caught.value) == (
        "rrule.define: a rule key must be callable, but got 3."
    )


class TestConfigs:
    def test_traits_are_all_needed(self):
        define(one, object, name="r", config=RuleConfig[HasReverseMode])
        define(
            one, object, name="fr", config=RuleConfig[HasForwardsMode, HasReverseMode]
        )
        assert ran(one, 1.0) is None
        assert ran(Forward(), one, 1.0) is None
        assert ran(Reverse(), one, 1.0) == "r"
        assert ran(Both(), one, 1.0) == "fr"

    def test_neither_trait_contains_the_other(self):
        define(one, object, name="r", config=RuleConfig[HasReverseMode])
        define(one, object, name="f", config=RuleConfig[HasForwardsMode])
        with pytest.raises(AmbiguousRulesError, match="config: RuleConfig"):
            rrule(Both(), one, 1.0)

    def test_a_config_class_is_more_specific_than_its_traits(self):
        define(one, object, name="trait", config=RuleConfig[HasReverseMode])
        define(one, object, name="mine", config=Both)
        assert ran(Both(), one, 1.0) == "mine"
        assert ran(Reverse(), one, 1.0) == "trait"

    def test_a_config_rule_wins_over_a_more_specific_one_without(self):
        define(one, float, name="plain")
        with pytest.warns(UserWarning, match=r"hides the more specific plain\(float\)"):
            define(one, object, name="config", config=RuleConfig[HasReverseMode])
        assert ran(Reverse(), one, 1.0) == "config"
        assert ran(one, 1.0) == "plain"

    def test_a_variadic_config_rule_may_hide_others(self):
        define(one, float, name="plain")

        def config_rrule(config, *xs):
            return "config", None

        with pytest.warns(UserWarning, match=r"hides the more specific plain\(float\)"):
            rrule.define(one, config=RuleConfig[HasReverseMode])(config_rrule)

    def test_equal_signatures_do_not_warn(self):
        define(one, float, name="plain")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            define(one, float, name="config", config=RuleConfig[HasReverseMode])
        assert ran(Reverse(), one, 1.0) == "config"

    def test_types_against_configs(self):
        define(one, float, name="type", config=RuleConfig[HasReverseMode])
        define(one, object, name="traits", config=Both)
        with pytest.raises(AmbiguousRulesError):
            rrule(Both(), one, 1.0)
        assert ran(Reverse(), one, 1.0) == "type"
        assert ran(Both(), one, 1) == "traits"

    def test_the_rule_is_given_the_config(self):
        seen = []

        @rrule.define(one, config=Both)
        def rule(config, x):
            seen.append(config)
            return x, None

        config = Both()
        rrule(config, one, 1.0)
        assert seen == [config]

    def test_requirements_are_cached_and_ordered(self):
        ab = RuleConfig[HasForwardsMode, HasReverseMode]
        assert ab is RuleConfig[HasReverseMode, HasForwardsMode]
        assert ab.__name__ == "RuleConfig[HasForwardsMode, HasReverseMode]"
        assert issubclass(ab, RuleConfig[HasReverseMode])
        assert not issubclass(RuleConfig[HasReverseMode], ab)
        assert isinstance(Both(), ab)

    def test_misuse(self):
        with pytest.raises(RuleDefinitionError, match="must name traits"):
            RuleConfig[float]
        with pytest.raises(RuleDefinitionError) as caught:
            Both[HasReverseMode]
        assert str(caught.value) == (
            "only RuleConfig[…] names traits, one or more, but got "
            "Both[HasReverseMode]. A config class is written without brackets."
        )
        with pytest.raises(RuleDefinitionError, match=r"got RuleConfig\[\]"):
            RuleConfig[()]
        with pytest.raises(RuleDefinitionError, match="config must be a RuleConfig"):
            rrule.define(one, config=HasReverseMode)
        with pytest.raises(RuleDefinitionError, match="config must be a RuleConfig"):
            rrule.define(one, config=Both())


class TestOptOut:
    def test_it_hides_less_specific_rules_only(self):
        define(one, object, name="any")
        opt_out(rrule, one, float | np.ndarray)
        assert ran(one, 1.0) is None
        assert ran(one, 1) == "any"
        assert no_rrule(one, float)
        assert no_rrule(one, np.ndarray)
        assert not no_rrule(one, int)
        define(one, np.float64, name="scalar")
        assert ran(one, np.float64(1)) == "scalar"

    def test_queries_of_unions_and_configs(self):
        opt_out(rrule, one, float)
        opt_out(rrule, one, str, config=Reverse)
        assert no_rrule(one, float | np.float64)
        assert not no_rrule(one, float | int)
        assert not no_rrule(one, str)
        assert no_rrule(one, str, config=Reverse)
        assert no_rrule(one, float, config=Reverse)
        with pytest.raises(RuleDefinitionError, match="must be annotated with a class"):
            no_rrule(one, 1.0)

    def test_the_other_mode_is_untouched(self):
        opt_out(rrule, one, float)
        assert no_rrule(one, float)
        assert not rc.no_frule(one, float)
        opt_out(rc.frule, one, float)
        assert rc.no_frule(one, float)

    def test_for_one_config(self):
        define(one, object, name="any")
        opt_out(rrule, one, float, config=Reverse)
        assert ran(Reverse(), one, 1.0) is None
        assert ran(one, 1.0) == "any"
        assert not no_rrule(one, float)

    def test_a_config_rule_beats_a_plain_opt_out(self):
        define(one, object, name="any", config=RuleConfig[HasReverseMode])
        opt_out(rrule, one, float)
        assert ran(Reverse(), one, 1.0) == "any"

    def test_misuse(self):
        with pytest.raises(RuleDefinitionError, match="must get rrule or frule first"):
            opt_out(one, rrule, float)
        with pytest.raises(RuleDefinitionError, match="normal form two has 2"):
            opt_out(rrule, two, float)
        define(one, float, name="rule")
        with pytest.raises(RuleClashError, match=r"and opt_out\(rrule\) at test_disp"):
            opt_out(rrule, one, float)


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


class TestVariadics:
    @staticmethod
    def define(source, name):
        scope = {"float": float}
        exec(f"def {name}{source}: return {name!r}, None", scope)
        rrule.define(several)(scope[name])

    def test_a_fixed_length_wins(self):
        self.define("(*xs)", "any_number")
        self.define("(x)", "single")
        assert (ran(several, 1.0), ran(several), ran(several, 1, 2)) == (
            "single",
            "any_number",
            "any_number",
        )

    def test_narrower_types_win_also_where_there_are_none(self):
        self.define("(*xs)", "any_number")
        self.define("(*xs: float)", "floats")
        assert (ran(several), ran(several, 1.0), ran(several, 1)) == (
            "floats",
            "floats",
            "any_number",
        )

    def test_the_one_that_takes_fewer_lengths_wins(self):
        self.define("(*xs)", "any_number")
        self.define("(x, *xs)", "some")
        self.define("(x, y, *xs: float)", "two_and_floats")
        assert ran(several) == "any_number"
        assert ran(several, 1) == "some"
        assert ran(several, 1, 2) == "two_and_floats"
        assert ran(several, 1, 2, 3) == "some"


def several(*xs):
    return xs


def run_cell(number, source):
    """What a notebook does: one module, a file name for every text of a cell."""
    scope = {"__name__": "__main__", "rrule": rrule, "one": one, "opt_out": opt_out}
    exec(compile(source, f"cell{number}.py", "exec"), scope)


CELL = "@rrule.define(one)\ndef my_rrule(x: {}): return {!r}, None"


def test_a_cell_that_is_run_again_with_other_types_replaces_its_rule():
    run_cell(1, CELL.format("float", "old"))
    run_cell(2, CELL.format("float | int", "new"))
    assert (ran(one, 1.0), ran(one, 1)) == ("new", "new")
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
