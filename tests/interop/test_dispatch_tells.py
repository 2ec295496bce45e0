"""A rule runs, or somebody says that it does not: annotations × arguments × hosts.

The function is `2 x` and its rules claim the derivative 7, so that the derivative tells
whether a rule ran. Either it did and `explain` says so, or there is one
`RuleSkippedWarning` that names the argument and its type, and `explain` says that.
"""

import numbers
import typing
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_core import NoTangent, RuleSkippedWarning, ZeroTangent, frule, rrule
from rules_core.testing import isolated_rules
from rules_jax import to_jax
from rules_torch import to_torch

BODY, RULE = 2.0, 7.0

KINDS = {
    "numpy": np.ones(2),
    "jax": jnp.ones(2),
    "torch": torch.ones(2),
    "float64": np.float64(1.5),
    "float32": np.float32(1.5),
    "float": 1.5,
    "int": 2,
    "bool": True,
    "complex": 1j,
    "list": [1.0, 2.0],
    "None": None,
    "text": "a",
}
NUMBERS = {"float", "int", "bool", "complex"}
ARRAYS = {"numpy", "jax", "torch", "float64", "float32"}
ALL = set(KINDS)

# Annotation → the kinds of arguments that Python, read as the pages say, gives it.
STYLES = {
    "none": (object, ALL),
    "Any": (typing.Any, ALL),
    "Array": (rc.Array, ARRAYS | NUMBERS),
    "text": ("rc.Array", ARRAYS | NUMBERS),
    "float": (float, {"float", "int", "bool", "float64"}),
    "int": (int, {"int", "bool"}),
    "complex": (complex, NUMBERS | {"float64"}),
    "ndarray": (np.ndarray, {"numpy"}),
    "float64": (np.float64, {"float64"}),
    "jax": (jax.Array, {"jax"}),
    "jnp": (jnp.ndarray, {"jax"}),
    "like": (jax.typing.ArrayLike, (ARRAYS | NUMBERS) - {"torch"}),
    "torch": (torch.Tensor, {"torch"}),
    "union": (rc.Array | float, ARRAYS | NUMBERS),
    "pair": (jax.Array | torch.Tensor, {"jax", "torch"}),
    "optional": (float | None, {"float", "int", "bool", "float64", "None"}),
    "Real": (numbers.Real, {"float", "int", "bool", "float64", "float32"}),
    "list": (list, {"list"}),
    "annotated": (typing.Annotated[float, "m"], {"float", "int", "bool", "float64"}),
}


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


def declared(annotation, *, variadic=False, kinds=("rrule", "frule"), host=False):
    """A primitive whose second argument's rules have an annotation."""

    @rc.primitive(host=host)
    def twice(x, c):
        return BODY * x

    def by_rrule(x, c):
        return BODY * x, lambda dy: (NoTangent(), RULE * dy, ZeroTangent())

    def by_rest(x, *c):
        return by_rrule(x, *c)

    def by_frule(tangents, x, c):
        return BODY * x, RULE * tangents[1]

    for rule in (by_rrule, by_rest, by_frule):
        rule.__annotations__["c"] = annotation
    if "rrule" in kinds:
        rrule.define(twice)(by_rest if variadic else by_rrule)
    if "frule" in kinds:
        frule.define(twice)(by_frule)
    return twice


def by_rrule(f, c):
    pair = rrule(f, 1.0, c)
    return None if pair is None else pair[1](1.0)[1]


def by_frule(f, c):
    pair = frule((NoTangent(), 1.0, ZeroTangent()), f, 1.0, c)
    return None if pair is None else pair[1]


def in_torch(f, c):
    x = torch.tensor(1.0, requires_grad=True)
    f(x, c).backward()
    return float(x.grad)


# Host → its derivative with respect to x, the class of arrays that it takes for x.
HOSTS = {
    "engine": (lambda f, c: grad(lambda x: f(x, c))(1.0), 1.0),
    "engine forward": (lambda f, c: jvp(lambda x: f(x, c), (1.0,), (1.0,))[1], 1.0),
    "JAX grad": (lambda f, c: jax.grad(lambda x: f(x, c))(1.0), jnp.ones(())),
    "JAX jit": (lambda f, c: jax.jit(jax.grad(lambda x: f(x, c)))(1.0), jnp.ones(())),
    "JAX jvp": (
        lambda f, c: jax.jvp(lambda x: f(x, c), (1.0,), (1.0,))[1],
        jnp.ones(()),
    ),
    "torch": (in_torch, torch.ones(())),
    "torch.func": (
        lambda f, c: torch.func.grad(lambda x: f(x, c))(torch.tensor(1.0)),
        torch.ones(()),
    ),
    "torch.func.jvp": (
        lambda f, c: torch.func.jvp(
            lambda x: f(x, c), (torch.tensor(1.0),), (torch.tensor(1.0),)
        )[1],
        torch.ones(()),
    ),
}


def seen(host, kind):
    """As what a host hands on such an argument; None where it takes none."""
    numpy = kind in ("numpy", "float64", "float32")
    if host.startswith("engine"):
        return None if kind in ("jax", "torch") else kind
    if host.startswith("JAX"):
        return None if kind == "torch" else "jax" if numpy else kind
    return None if kind == "jax" else "torch" if numpy and kind != "float64" else kind


def told(host, f, c):
    """The derivative, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuleSkippedWarning)
        value = float(HOSTS[host][0](f, c))
    return value, [w.message for w in caught if w.category is RuleSkippedWarning]


def said(host, text):
    """Whether `explain` says that a rule runs in a host."""
    if host.startswith("engine"):
        return "runs." in text.splitlines()[0]
    name = "JAX" if host.startswith("JAX") else "PyTorch"
    (line,) = [x for x in text.splitlines() if x.startswith("In ") and name in x]
    return line.endswith((" run.", " runs."))


@pytest.mark.covering(every=20)
@pytest.mark.parametrize("variadic", [False, True], ids=["", "variadic"])
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("style", STYLES)
def test_a_rule_runs_or_a_warning_says_why_not(style, host, variadic):
    annotation, taken = STYLES[style]
    for kind, c in KINDS.items():
        if seen(host, kind) is None:
            continue
        f = declared(annotation, variadic=variadic, kinds=["rrule"])
        value, messages = told(host, f, c)
        where = f"{style} given {kind}"
        assert (value == RULE) is (seen(host, kind) in taken), where
        assert value in (BODY, RULE), where
        assert len(messages) == (value == BODY), where
        assert said(host, rc.explain(f, HOSTS[host][1], c)) is (value == RULE), where
        for message in messages:
            assert "argument 2 (c) is " in str(message), where
            assert _shown(KINDS[seen(host, kind)]) in str(message), where
            assert "RuleSkippedWarning" in rc.explain(f, HOSTS[host][1], c), where


def _shown(c):
    return "jax.Array" if isinstance(c, jax.Array) else type(c).__name__


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("call", [by_rrule, by_frule])
@pytest.mark.parametrize("style", STYLES)
def test_the_vocabulary_alone(style, call):
    annotation, taken = STYLES[style]
    for kind, c in KINDS.items():
        f = declared(annotation)
        assert (call(f, c) is not None) is (kind in taken), f"{style} given {kind}"
        assert ("runs." in rc.explain(f, 1.0, c).splitlines()[0]) is (kind in taken)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("style", ["jax", "jnp", "like", "Array", "pair", "union"])
@pytest.mark.parametrize("host", ["JAX grad", "JAX jit", "JAX jvp"])
def test_the_differentiated_argument_is_a_tracer(style, host):
    @rc.primitive
    def half(x):
        return BODY * x

    def half_rrule(x):
        return BODY * x, lambda dy: (NoTangent(), RULE * dy)

    half_rrule.__annotations__["x"] = STYLES[style][0]
    rrule.define(half)(half_rrule)
    value, messages = told(host, lambda x, _: half(x), None)
    assert (value, messages) == (RULE, [])
    assert said(host, rc.explain(half, jnp.ones(())))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("annotation", [np.ndarray, float, np.float64, numbers.Real])
@pytest.mark.parametrize("host", [h for h in HOSTS if not h.startswith("engine")])
def test_what_no_host_array_is_is_said_once_for_all_its_stand_ins(host, annotation):
    @rc.primitive
    def half(x):
        return BODY * x

    def half_rrule(x):
        return BODY * x, lambda dy: (NoTangent(), RULE * dy)

    half_rrule.__annotations__["x"] = annotation
    rrule.define(half)(half_rrule)
    x = HOSTS[host][1]
    assert not said(host, rc.explain(half, x))
    assert not said(host, rc.explain(half, np.ones(3)))
    value, (message,) = told(host, lambda x, _: half(x), None)
    assert value == BODY
    assert "rules_core.Array, leave the annotation out" in str(message)
    assert told(host, lambda x, _: half(x), None) == (BODY, [])


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("style", ["Array", "float", "jax", "torch", "union", "int"])
def test_compiled_by_torch(style):
    annotation, taken = STYLES[style]
    for kind in ("torch", "float", "int", "None"):
        torch.compiler.reset()
        f, c = declared(annotation, kinds=["rrule"]), KINDS[kind]
        x = torch.ones(2, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuleSkippedWarning)
            compiled = torch.compile(lambda x, f=f, c=c: f(x, c), backend="aot_eager")
            compiled(x).sum().backward()
        messages = [w for w in caught if w.category is RuleSkippedWarning]
        assert (x.grad == (RULE if kind in taken else BODY)).all(), kind
        assert len(messages) == (kind not in taken), kind


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("host", HOSTS)
def test_it_is_an_error_in_debug_mode(host):
    f = declared(int, kinds=["rrule"])
    with rc.debug_mode(), pytest.raises(rc.DebugError, match=r"argument 2 \(c\) is fl"):
        HOSTS[host][0](f, 1.5)


@pytest.mark.parametrize("host", HOSTS)
def test_a_call_that_is_opted_out_is_silent(host):
    f = declared(int, kinds=["rrule"])
    rc.opt_out(rrule, f, object, float)
    assert told(host, f, 1.5) == (BODY, [])


@pytest.mark.parametrize("host", HOSTS)
def test_a_rule_of_the_other_kind_serves_and_nothing_is_said(host):
    f = declared(int, kinds=["rrule"])

    @frule.define(f)
    def float_frule(tangents, x, c: float):
        return BODY * x, RULE * tangents[1]

    assert told(host, f, 1.5) == (RULE, [])


@pytest.mark.parametrize("host", HOSTS)
def test_it_is_said_again_when_the_rules_have_changed(host):
    f = declared(int, kinds=["rrule"])
    assert len(told(host, f, 1.5)[1]) == 1
    assert told(host, f, 1.5)[1] == []

    @rrule.define(f)
    def for_text(x, c: str):
        return BODY * x, lambda dy: (NoTangent(), RULE * dy, NoTangent())

    assert len(told(host, f, 1.5)[1]) == 1


def test_the_closest_rule_wins_over_a_number_taken_for_an_array():
    def half(x):
        return x

    @rrule.define(half)
    def for_arrays(x: rc.Array):
        return "array", lambda dy: None

    assert [rrule(half, x)[0] for x in (1, 1.0, 1j)] == ["array"] * 3

    @rrule.define(half)
    def for_floats(x: float):
        return "float", lambda dy: None

    assert [rrule(half, x)[0] for x in (1, 1.0, 1j)] == ["float", "float", "array"]

    @rrule.define(half)
    def for_ints(x: int):
        return "int", lambda dy: None

    assert [rrule(half, x)[0] for x in (1, 1.0, 1j)] == ["int", "float", "array"]


@pytest.mark.parametrize("x", [1.0, np.ones(2), jnp.ones(2), torch.ones(2)])
def test_rules_of_what_is_no_primitive_are_the_vocabularys_alone(x):
    def half(x):
        return BODY * x

    @rrule.define(half)
    def half_rrule(x):
        return BODY * x, lambda dy: (NoTangent(), RULE * dy)

    text = rc.explain(half, x)
    assert "JAX and PyTorch do not use rules of" in text
    assert "rules_core.primitive, or call to_jax(" in text
    assert float(jax.grad(half)(1.0)) == BODY
    assert grad(half)(1.0) == RULE
    for wrapped in (to_jax(half), to_torch(half), rc.primitive(half)):
        text = rc.explain(wrapped, x)
        assert "half_rrule runs." in text.splitlines()[-1]
    assert float(jax.grad(to_jax(half))(1.0)) == RULE


def test_annotations_in_the_manner_of_jaxtyping():
    class Float:  # `Float[Array, "n"]` has these attributes
        array_type = jax.Array
        dtypes = ("float32",)

    f = declared(Float, kinds=["rrule"])
    assert told("JAX grad", f, jnp.ones(2)) == (RULE, [])
    assert told("JAX jit", f, jnp.ones(2)) == (RULE, [])
    assert len(told("JAX grad", f, "a")[1]) == 1
