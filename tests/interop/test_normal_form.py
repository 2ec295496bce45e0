"""One normal form: a rule computes the function that is called, whatever is left out.

Wrappers with parameters of their own, defaults that change, keyword-only defaults: the
value under a rule is that of the plain call, in every host.
"""

import functools
import subprocess
import sys

import jax
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, value_and_grad
from rules_core import NoTangent, frule, rrule
from rules_core.testing import isolated_rules


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


def by_torch(f):
    x = torch.tensor(1.5, requires_grad=True)
    y = f(x)
    y.backward()
    return y.item(), x.grad.item()


HOSTS = {
    "rrule": lambda f: (rrule(f, 1.5)[0], rrule(f, 1.5)[1](1.0)[1]),
    "frule": lambda f: frule((NoTangent(), 1.0), f, 1.5),
    "engine": lambda f: value_and_grad(f)(1.5),
    "JAX": lambda f: jax.value_and_grad(f)(1.5),
    "JAX jit": lambda f: jax.jit(jax.value_and_grad(f))(1.5),
    "torch": by_torch,
    "torch.func": lambda f: torch.func.grad_and_value(f)(torch.tensor(1.5))[::-1],
}
hosts = pytest.mark.parametrize("host", HOSTS)


def inner(x, k=2.0):
    return k * x


@functools.wraps(inner)
def other_default(x, k=3.0):
    return inner(x, k)


@functools.wraps(inner)
def keyword_only(x, *, k=5.0):
    return inner(x, k)


@functools.wraps(inner)
def hands_on(*args, **kwargs):
    return inner(*args, **kwargs)


@functools.wraps(inner)
def hands_on_after_x(x, *args, **kwargs):
    return inner(x, *args, **kwargs)


@functools.wraps(other_default)
def twice_wrapped(*args, **kwargs):
    return other_default(*args, **kwargs)


def plain(x, k=2.5):
    return k * x


def plain_keyword(x, *, k=4.0):
    return k * x


def open_keywords(x, *, k=6.0, **more):
    return k * x


FUNCTIONS = [
    inner,
    other_default,
    keyword_only,
    hands_on,
    hands_on_after_x,
    twice_wrapped,
    plain,
    plain_keyword,
    open_keywords,
]


def ruled(f, *, default):
    """A primitive of `f` whose rules take k, with another default or none."""
    handle = rc.primitive(f)
    by_name = f in (keyword_only, plain_keyword, open_keywords)
    given = f"k={default}" if default is not None else "k"
    parameters = f"x, *, {given}" if by_name else f"x, {given}"
    parameters += ", **more" if f is open_keywords else ""
    last = "" if by_name else ", dy * x"
    scope = {"NoTangent": NoTangent}
    exec(
        f"def back({parameters}):\n"
        f"    return k * x, lambda dy: (NoTangent(), dy * k{last})\n"
        f"def forth(tangents, {parameters}):\n"
        f"    return k * x, k * tangents[1]\n",
        scope,
    )
    rrule.define(f)(scope["back"])
    frule.define(f)(scope["forth"])
    return handle


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("default", [None, 100.0], ids=["none", "another"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__code__.co_name)
@hosts
def test_what_is_left_out_is_the_functions_own(host, f, default):
    y, dx = HOSTS[host](ruled(f, default=default))
    assert (float(y), float(dx)) == (f(1.5), f(1.0))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", [plain, plain_keyword], ids=lambda f: f.__name__)
@hosts
def test_defaults_that_change_are_seen(host, f, monkeypatch):
    handle = ruled(f, default=None)
    assert float(HOSTS[host](handle)[0]) == f(1.5)
    if f is plain:
        monkeypatch.setattr(f, "__defaults__", (9.0,))
    else:
        monkeypatch.setattr(f, "__kwdefaults__", {"k": 9.0})
    assert f(1.5) == 13.5
    assert [float(v) for v in HOSTS[host](handle)] == [13.5, 9.0]


def test_a_keyword_that_a_rule_does_not_declare_is_refused_only_if_given():
    @rrule.define(plain_keyword)
    def without(x):
        return 4.0 * x, lambda dy: (NoTangent(), 4.0 * dy)

    assert rrule(plain_keyword, 1.5)[0] == 6.0
    assert grad(plain_keyword)(1.5) == 4.0
    with pytest.raises(rc.RuleDefinitionError, match="keyword argument 'k'"):
        rrule(plain_keyword, 1.5, k=4.0)


def test_a_rule_that_is_wrapped_has_its_own_parameters():
    def factored(rule):
        @functools.wraps(rule)
        def logged(*args, **kwargs):
            return rule(*args, **kwargs)

        return logged

    @rrule.define(plain)
    @factored
    def for_text(x: str, k):
        return "text", print

    with pytest.raises(rc.RuleDefinitionError, match="takes 3 arguments"):
        rrule.define(plain)(functools.wraps(plain)(lambda x, k, unused: None))
    assert rrule(plain, "a")[0] == "text"
    assert rrule(plain, 1.0) is None


FIRST = {
    "to_jax": "import jax; from rules_jax import to_jax;"
    "print(float(jax.grad(to_jax(scipy.special.jv), 1)(1.0, 2.0)))",
    "to_torch": "import torch; from rules_torch import to_torch;"
    "x = torch.tensor(2.0, requires_grad=True);"
    "to_torch(scipy.special.jv)(1.0, x).backward(); print(float(x.grad))",
    "primitive": "import jax, rules_core as rc; f = rc.primitive(scipy.special.jv);"
    "print(float(jax.grad(f, 1)(1.0, jax.numpy.asarray(2.0))))",
    "as_primitive": "import jax, rules_core as rc; f = rc.as_primitive("
    "scipy.special.jv); print(float(jax.grad(f, 1)(1.0, jax.numpy.asarray(2.0))))",
}


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("how", FIRST)
def test_the_first_call_of_a_process_knows_what_the_pack_declares(how):
    """`jv' = (J₀ - J₂) / 2` at 2."""
    code = f"import scipy.special; {FIRST[how]}"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) == pytest.approx(-0.0644716, abs=1e-6)


def repeated(x, *, n=2):
    return np.stack([x] * n)


def repeated_open(x, *, n=2, **more):
    return np.stack([x] * n)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("default", [None, 7], ids=["none", "another"])
@pytest.mark.parametrize("f", [repeated, repeated_open], ids=lambda f: f.__name__)
def test_shape_and_batch_rules_see_the_functions_own_defaults(f, default):
    handle = rc.primitive(f, host=True)
    parameters = "x, *, n" if default is None else f"x, *, n={default}"
    parameters += ", **more" if f is repeated_open else ""
    scope = {"rc": rc, "np": np}
    exec(
        f"def shapes({parameters}):\n"
        "    return rc.ShapeDtype((n, *x.shape), x.dtype)\n"
        f"def batch(size, batched, {parameters}):\n"
        "    return np.stack([x] * n, axis=1), True\n",
        scope,
    )
    rc.shape_rule.define(f)(scope["shapes"])
    rc.batch_rule.define(f)(scope["batch"])
    rows = np.arange(6.0).reshape(3, 2)
    one, many = jax.jit(handle)(rows[0]), jax.jit(jax.vmap(handle))(rows)
    assert one.tolist() == f(rows[0]).tolist()
    assert many.tolist() == [f(row).tolist() for row in rows]
    given = jax.vmap(lambda x: handle(x, n=1))(rows)
    assert given.tolist() == rows[:, None].tolist()
