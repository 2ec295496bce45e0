"""Each misuse of `frule` and `rrule` has its own error; whole texts."""

import functools

import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule


def square(x):
    return x * x


def at(function):
    return f"test_misuse.py:{function.__code__.co_firstlineno}"


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (4.0, "one value of type float."),
        ((4.0,), "a tuple of 1."),
        ((4.0, None, None), "a tuple of 3."),
        (None, "None. Return the pair, or use opt_out(rrule, f, …) to decline."),
        ([4.0, None], "one value of type list."),
    ],
    ids=["value", "one", "three", "None", "list"],
)
def test_an_rrule_that_returns_no_pair(result, got):
    @rrule.define(square)
    def bad_rrule(x):
        return result

    with pytest.raises(rc.RuleResultError) as caught:
        rrule(square, 2.0)
    name = "test_an_rrule_that_returns_no_pair.<locals>.bad_rrule"
    assert str(caught.value) == (
        f"rrule {name} for square at {at(bad_rrule)} must return the pair "
        f"(y, pullback), but got {got}"
    )


def test_an_frule_that_returns_one_value():
    @frule.define(square)
    def bad_frule(tangents, x):
        return x

    with pytest.raises(rc.RuleResultError, match=r"return the pair \(y, dy\), but got"):
        frule((NoTangent(), 1.0), square, 2.0)


@pytest.mark.parametrize(
    ("tangents", "got"),
    [
        ((1.0,), "1 of them."),
        ((NoTangent(), 1.0, 1.0), "3 of them."),
        (1.0, "one value of type float. Pass (NoTangent(), dx1, …)."),
        ([None, 1.0], "one value of type list. Pass (NoTangent(), dx1, …)."),
    ],
    ids=["one", "three", "bare", "list"],
)
def test_a_wrong_number_of_tangents(tangents, got):
    @frule.define(square)
    def square_frule(tangents, x):
        return square(x), 2 * x * tangents[1]

    with pytest.raises(rc.TangentCountError) as caught:
        frule(tangents, square, 2.0)
    assert str(caught.value) == (
        "frule for square: the tangents must be a tuple of 2 (one for the function "
        f"itself, then one per positional argument), but got {got}"
    )


@pytest.mark.parametrize(
    ("cotangents", "got"),
    [
        ((1.0,), "1 of them"),
        (1.0, "one value of type float"),
        ([NoTangent(), 1.0], "one value of type list"),
    ],
    ids=["one", "bare", "list"],
)
def test_a_pullback_of_wrong_length(cotangents, got):
    @rrule.define(square)
    def square_rrule(x):
        return square(x), lambda dy: cotangents

    call = rrule.resolve(square, (2.0,))
    _, pullback = call.run()
    with pytest.raises(rc.CotangentCountError) as caught:
        call.check_cotangents(pullback(1.0))
    name = "test_a_pullback_of_wrong_length.<locals>.square_rrule"
    assert str(caught.value) == (
        f"rrule {name} for square at {at(square_rrule)}: the pullback must return a "
        "tuple of 2 cotangents (one for the function itself, then one per positional "
        f"argument), but got {got}. Return NoTangent() for what has no tangent."
    )


def test_a_keyword_that_the_rule_does_not_take():
    def shift(x, *, by=1.0):
        return x + by

    @rrule.define(shift)
    def shift_rrule(x):
        return shift(x), abs

    assert rrule(shift, 1.0)[0] == 2.0
    with pytest.raises(rc.RuleDefinitionError) as caught:
        rrule(shift, 1.0, by=3.0)
    local = "test_a_keyword_that_the_rule_does_not_take.<locals>."
    assert str(caught.value) == (
        f"rrule {local}shift_rrule for {local}shift at {at(shift_rrule)} does not take "
        "the keyword argument 'by' of this call. Add 'by' as a keyword-only parameter "
        "of the rule and use it."
    )


def test_a_rule_without_tangents():
    with pytest.raises(rc.RuleDefinitionError) as caught:

        @frule.define(square)
        def square_frule():
            return 0.0, 0.0

    assert str(caught.value).endswith(
        "must take (tangents, x1, …), but takes only 0 positional parameters. Add "
        "'tangents'."
    )


def test_a_partial_is_no_key():
    import functools

    with pytest.raises(
        rc.RuleDefinitionError, match="a partial has no rules of its ow"
    ):
        rrule.define(functools.partial(square))


def test_a_required_keyword_that_the_call_lacks():
    def shift(x, *, by):
        return x + by

    @rrule.define(shift)
    def shift_rrule(x, *, by=0.0):
        return shift(x, by=by), abs

    assert rrule(shift, 1.0, by=3.0)[0] == 4.0
    name = "test_a_required_keyword_that_the_call_lacks.<locals>.shift"
    for _ in range(3):  # warm look-ups too
        with pytest.raises(TypeError) as caught:
            rrule(shift, 1.0)
        assert str(caught.value) == f"{name}() is missing the required argument 'by'"


class SomeConfig(rc.RuleConfig):
    pass


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: rrule(3.0, 1.0),
            "rrule(f, *args): f must be callable, but got 3.0.",
        ),
        (
            lambda: frule(square, 2.0),
            "frule(tangents, f, *args) must get the tangents first, but got square. "
            "Write frule((NoTangent(), dx1), square, …).",
        ),
        (
            lambda: frule((NoTangent(), 1.0)),
            "frule must get (tangents, f, *args), a RuleConfig before them.",
        ),
        (
            lambda: rrule(SomeConfig()),
            "rrule must get a function after the config.",
        ),
        (
            lambda: rrule(SomeConfig, square, 2.0),
            "rrule: a config must be an instance, but got the class. Pass "
            "SomeConfig().",
        ),
    ],
    ids=["number", "no tangents", "no function", "config alone", "config class"],
)
def test_calls_that_cannot_be_meant(call, text):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == text


def test_a_malformed_pair_is_reported_by_warm_look_ups_too():
    calls = []

    @rrule.define(square)
    def bad_rrule(x):
        calls.append(x)
        return x

    for _ in range(4):
        with pytest.raises(rc.RuleResultError, match=r"bad_rrule for square at"):
            rrule(square, 2.0)
    assert len(calls) == 4


@pytest.mark.parametrize("name", ["half", "kind"])
def test_what_functools_makes_anew_is_no_key(name):
    with pytest.raises(rc.RuleDefinitionError) as caught:
        rrule.define(getattr(Fleeting, name))
    assert str(caught.value).endswith(
        "is made anew each time that it is read (partialmethod, singledispatchmethod). "
        "Define the rule for the method inside."
    )


class Fleeting:
    def scale(self, factor, x):
        return factor * x

    half = functools.partialmethod(scale, 0.5)

    @functools.singledispatchmethod
    def kind(self, x):
        return x


@pytest.mark.parametrize("given", [4.0, None], ids=["derivative", "None"])
def test_a_value_in_place_of_the_pullback(given):
    @rrule.define(square)
    def square_rrule(x):
        return square(x), given

    with pytest.raises(rc.RuleResultError) as caught:
        rrule.resolve(square, (2.0,)).run()
    name = "test_a_value_in_place_of_the_pullback.<locals>.square_rrule"
    got = "None" if given is None else "one value of type float"
    assert str(caught.value) == (
        f"rrule {name} for square at {at(square_rrule)} must return the pair "
        f"(y, pullback), but its second entry is {got}, which cannot be called with a "
        "cotangent."
    )


@pytest.mark.parametrize(
    "define",
    [rrule.define, frule.define, rc.shape_rule.define, rc.batch_rule.define],
    ids=["rrule", "frule", "shape_rule", "batch_rule"],
)
def test_a_decorator_without_the_function(define, request):
    with pytest.raises(rc.RuleDefinitionError) as caught:

        @define
        def square_rule(x):
            return x

    kind = request.node.callspec.id
    name = "test_a_decorator_without_the_function.<locals>.square_rule"
    assert str(caught.value) == (
        f"@{kind}.define must be told which function {name} is for, but is written "
        f"without one. Write @{kind}.define(f)."
    )


def test_a_function_and_its_rule_on_one_line_each():
    """As they are typed at a prompt, where every input begins with line 1."""
    scope = {"rrule": rrule}
    for source in ("def f(x): return x", "@rrule.define(f)\ndef r(x): return x, abs"):
        exec(compile(source, "<stdin>", "exec"), scope)
    assert rrule(scope["f"], 1.0) == (1.0, abs)


def test_a_shape_that_is_a_number():
    with pytest.raises(TypeError) as caught:
        rc.ShapeDtype(3, "float64")
    assert str(caught.value) == (
        "ShapeDtype: the shape must be a tuple of lengths such as (3,), but got 3."
    )
