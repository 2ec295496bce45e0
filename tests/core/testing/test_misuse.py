"""What testers were not meant to be called with: refused, in words, before a check.

Each text is tested whole.
"""

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, rrule
from rules_core.testing import (
    CheckCallError,
    CheckFailed,
    Seeded,
    check_frule,
    check_pack,
    check_rrule,
    check_rule,
    check_scalar,
    isolated_rules,
)

VECTOR = np.array([0.5, -1.25, 2.0])


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        rc.scalar_rule(square, square_partials, holomorphic=True)
        yield


def square(x):
    return x * x


def square_partials(y, x):
    return (2 * x,)


def message(check, *args, error=CheckCallError, **options):
    with pytest.raises(error) as caught:
        check(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (3.0, "3.0"),
        (None, "None"),
        ("np.sin", "'np.sin'"),
        (VECTOR, "float64 array of shape (3,)"),
        (np, "a module"),
        (vars(type("C", (), {"p": property(square)}))["p"], "a property"),
    ],
    ids=["number", "none", "string", "array", "module", "property"],
)
@pytest.mark.parametrize("check", [check_rule, check_rrule, check_frule, check_scalar])
def test_no_function(check, given, shown):
    assert message(check, given, 2.0) == (
        f"{check.__name__}(f, *args): f must be the function whose rules are checked, "
        f"but got {shown}. Its arguments follow it: {check.__name__}(f, x), not "
        f"{check.__name__}(f(x))."
    )


ONE_RULE = "fkwargs, tangents, cotangent, rtol, atol, level, config, skip, seed"
OPTIONS = {
    "check_rule": ONE_RULE.replace("level", "level, hosts"),
    "check_rrule": ONE_RULE,
    "check_frule": ONE_RULE,
    "check_scalar": "fkwargs, rtol, atol, hosts, config, skip, seed",
}


@pytest.mark.parametrize("check", [check_rule, check_rrule, check_frule, check_scalar])
def test_an_option_that_does_not_exist(check):
    assert message(check, square, 2.0, n=3) == (
        f"{check.__name__} has no option 'n'; there are {OPTIONS[check.__name__]}. "
        "A keyword argument of f itself goes into fkwargs={'n': …}."
    )


@pytest.mark.parametrize("check", [check_rrule, check_frule])
def test_hosts_of_one_rule_in_numpy(check):
    assert message(check, square, 2.0, hosts=()).startswith(
        f"{check.__name__} has no option 'hosts'; there are fkwargs, "
    )


TOLERANCE = "a finite number that is not negative"
NAMES = "a tuple of names such as ('jax',), or None for all that are installed"


@pytest.mark.parametrize(
    ("option", "must", "got"),
    [
        ({"level": "Full"}, "'quick' or 'full'", "'Full'"),
        ({"level": []}, "'quick' or 'full'", "a list of 0"),
        ({"rtol": -1.0}, f"{TOLERANCE}, or None", "-1.0"),
        ({"rtol": "1e-3"}, f"{TOLERANCE}, or None", "'1e-3'"),
        ({"rtol": float("nan")}, f"{TOLERANCE}, or None", "nan"),
        ({"atol": float("inf")}, TOLERANCE, "inf"),
        ({"atol": None}, TOLERANCE, "None"),
        ({"hosts": "jax"}, NAMES, "'jax'"),
        ({"hosts": 3}, NAMES, "3"),
        (
            {"skip": "rrule.derivative"},
            "a tuple of names of checks such as ('rrule.derivative',)",
            "'rrule.derivative'",
        ),
        ({"seed": "a"}, "an integer that is not negative", "'a'"),
        ({"seed": -1}, "an integer that is not negative", "-1"),
        (
            {"config": rc.RuleConfig},
            "an instance of a RuleConfig, or None",
            "<class 'rules_core.RuleConfig'>",
        ),
        ({"fkwargs": 3}, "the dict of keyword arguments of f", "3"),
        ({"fkwargs": {1: 2}}, "the dict of keyword arguments of f", "{1: 2}"),
        (
            {"tangents": VECTOR},
            "a tuple with one tangent per argument, None for a random one",
            "float64 array of shape (3,)",
        ),
    ],
    ids=str,
)
def test_an_option_without_meaning(option, must, got):
    (name,) = option
    assert message(check_rule, square, VECTOR, **option) == (
        f"check_rule: {name} must be {must}, but got {got}."
    )


def test_a_wrong_number_of_tangents():
    assert message(check_rule, square, VECTOR, tangents=(VECTOR, VECTOR)) == (
        "tangents must hold one tangent per argument, 1 of them, but got 2. Use None "
        "for a random one."
    )


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((VECTOR,), {"tangents": (VECTOR[:2],)}),
        ((Seeded(VECTOR, VECTOR[:2]),), {}),
    ],
    ids=["tangents", "seeded"],
)
def test_a_tangent_of_another_shape(args, options):
    assert message(check_rule, square, *args, **options) == (
        "the tangent that was given does not fit: x: shape (3,) expected, got float64 "
        "array of shape (2,)."
    )


def test_a_cotangent_of_another_shape():
    assert message(check_rule, square, VECTOR, cotangent=1.0) == (
        "the cotangent that was given does not fit: y: shape (3,) expected, got 1.0."
    )


@pytest.mark.parametrize("zero", [np.zeros(3), NoTangent(), rc.ZeroTangent()])
def test_a_cotangent_at_which_every_rule_is_right(zero):
    assert message(check_rrule, square, VECTOR, cotangent=zero) == (
        "the cotangent that was given must not be zero: every rule is right there."
    )


def test_an_argument_seeded_inside_another():
    def first(xs):
        return xs[0]

    assert message(check_rule, first, [Seeded(VECTOR, VECTOR)]) == (
        "xs[0] is Seeded, but only whole positional arguments can be: give one tangent "
        "for all that the argument holds."
    )


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("rrule.derivativ", "Is it 'rrule.derivative' or 'frule.derivative'?"),
        ("nonsense!", "The report lists their names."),
    ],
)
def test_a_check_that_does_not_exist_cannot_be_left_out(name, cure):
    assert message(check_rule, square, VECTOR, skip=(name,)) == (
        f"check_rule: skip must name checks, but there is no {name!r}. {cure}"
    )


@pytest.mark.parametrize("skip", ["rrule.embedding", "jax: jit(grad)"])
def test_checks_of_another_tester_or_level_may_be_left_out(skip):
    assert check_rrule(square, VECTOR, skip=(skip,))


def test_a_function_that_writes_to_its_argument():
    def doubled(x):
        x *= 2
        return x

    rrule.define(doubled)(lambda x: (2 * x, lambda dy: (NoTangent(), 2 * dy)))
    assert message(check_rule, doubled, VECTOR) == (
        "doubled(float64[3]) writes to x, its argument. Check a function that works "
        "on a copy: rules leave their arguments as they are."
    )
    assert np.array_equal(VECTOR, [0.5, -1.25, 2.0])


def test_a_function_that_differs_from_call_to_call():
    rng = np.random.default_rng()

    def noisy(x):
        return x + rng.standard_normal()

    def total(xs):
        return float(sum(xs))

    for f, args, title in (
        (noisy, (VECTOR,), "noisy(float64[3])"),
        (total, ((x for x in (1.0, 2.0)),), "total(generator)"),
        (total, (iter([1.0, 2.0]),), "total(list_iterator)"),
    ):
        assert message(check_rule, f, *args) == (
            f"{title} gives another value when it is called again: it draws random "
            "numbers, keeps a state or uses up an argument. Check a function of its "
            "arguments alone."
        )


def test_a_function_whose_value_changes_its_kind():
    answers = iter([1.0, [1.0, 2.0]])

    def moody(x):
        return next(answers)

    assert message(check_rule, moody, 1.0).startswith(
        "moody(1.0) gives another value when it is called again"
    )


@pytest.mark.parametrize(
    ("f", "args", "error", "text"),
    [
        (lambda x: 1 / 0, (2.0,), ZeroDivisionError, "division by zero"),
        (square, (), TypeError, "square() is missing the required argument 'x'"),
        (
            square,
            (1.0, 2.0),
            TypeError,
            "square() takes 1 positional arguments but 2 were given",
        ),
    ],
    ids=["raises", "too few", "too many"],
)
def test_an_error_of_the_function_itself_says_who_called_it(f, args, error, text):
    with pytest.raises(error) as caught:
        check_scalar(f, *args)
    assert str(caught.value) == text
    (note,) = caught.value.__notes__
    assert note.startswith("check_scalar called ")
    assert note.endswith(f"{f.__name__} at these arguments, to know its value there.")


@pytest.mark.parametrize("check", [check_rule, check_scalar])
@pytest.mark.parametrize(
    ("args", "detail"),
    [
        ((3,), "the value has no tangent: it is 9"),
        ((np.arange(3),), "the value has no tangent: it is int64 array of shape (3,)"),
        ((VECTOR.astype(object),), "the value has no tangent: it is object array"),
    ],
    ids=["int", "int array", "object array"],
)
def test_what_has_no_tangent_is_not_run_and_says_why(check, args, detail):
    report = check(square, *args, hosts=())
    assert report["rrule.derivative"].status == "not run"
    assert report["rrule.derivative"].detail == "there is no number to differentiate"
    assert report["rrule.shape"].detail.startswith(detail)


def test_no_argument_with_a_tangent_and_no_value_at_all():
    def constant(n, name):
        return 2.0 * n

    def forgotten(x):
        x + 1

    for f in (constant, forgotten):
        rc.non_differentiable(f)
    report = check_rule(constant, 3, "a", hosts=())
    assert report["rrule.shape"].detail == "no argument has a tangent: there are 3, 'a'"
    report = check_rule(forgotten, 3.0, hosts=())
    assert report["rrule.shape"].detail == "the value has no tangent: it is None"


@pytest.mark.parametrize("x", [np.nan, np.inf])
def test_a_point_where_the_value_is_no_number(x):
    text = message(check_rule, square, x, hosts=(), error=CheckFailed)
    assert (
        "the function has no finite value next to this point; try another point or "
        "another direction (Seeded), or leave the check out with skip=" in text
    )


def test_an_instance_without_a_rule_is_told_its_key():
    class Line:
        def __call__(self, x):
            return x

    text = message(check_rrule, Line(), 2.0, error=CheckFailed)
    assert "no rrule applies to " in text
    assert "Line.__call__(Line, float)." in text
    assert "Line.__call__)." in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [(3, "3"), (np, "a module"), ("", "''"), (".x", "'.x'"), ("a b", "'a b'")],
)
def test_no_name_of_a_pack(name, shown):
    assert message(check_pack, name) == (
        "check_pack(name): name must be that of a pack or of a module, such as "
        f"'scipy' or 'rules_scipy', but got {shown}."
    )
