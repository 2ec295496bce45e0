"""Tensors that reach a function with rules by another way than as an argument.

No derivative of them is lost: each way is an error, or has the derivative that torch
gives to the body without rules.
"""

from __future__ import annotations

import importlib
from functools import partial
from types import FunctionType, SimpleNamespace

import pytest
import torch
import torch.autograd.forward_ad as fwd
from torch import func

import rules_core as rc
import rules_torch
from rules_core import NoTangent
from tests.adapters.torch.outside import (
    BOX,
    FOUND,
    GIVEN,
    METHODS,
    MODULE,
    OUTSIDE,
    PLAIN,
    READERS,
    SLICE,
    WAYS,
    WEAK,
    Caller,
    W,
    X,
    active,
    dual,
    helper,
    twice,
    with_rules,
)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reader", READERS)
def test_a_body_that_reads_a_tensor_from_outside_is_refused(reader, way):
    f = with_rules(READERS[reader])
    for _ in range(2):  # the first call goes another way than those after it
        with pytest.raises(OUTSIDE, match=f"its body reads .* {FOUND}"):
            WAYS[way](f)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reader", READERS)
def test_so_is_a_function_that_a_rule_is_given(reader, way):
    with pytest.raises(OUTSIDE, match=f"^twice: its argument 'f' .* {FOUND}"):
        WAYS[way](lambda x: twice(READERS[reader], x))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_so_is_an_object_that_holds_one(method, way):
    with pytest.raises(OUTSIDE, match=f"^twice: its argument 'f' .* {FOUND}"):
        WAYS[way](lambda x: twice(METHODS[method], x))


def test_a_bound_method_of_a_matrix_is_refused():
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    vector = torch.ones(2, requires_grad=True)
    for f in (matrix.mv, matrix.__matmul__, lambda x: matrix.T.mv(x) @ matrix):
        if isinstance(f, FunctionType):  # what it captures has a cotangent
            (found,) = torch.autograd.grad(twice(f, vector).sum(), matrix)
            (true,) = torch.autograd.grad(f(f(vector)).sum(), matrix)
            assert torch.allclose(found, true)
            continue
        with pytest.raises(OUTSIDE, match=r"shape \(2, 2\)"):
            twice(f, vector)


class Holder:
    w = W


HOLDERS = {
    "key": ({W: 1}, lambda h: next(iter(h))),
    "context variable": (GIVEN, lambda h: h.get()),
    "class": (Holder, lambda h: h.w),
    "weak reference": (WEAK, lambda h: h()),
    "object with a weak reference": (SimpleNamespace(w=WEAK), lambda h: h.w()),
    "module": (MODULE, lambda h: h.w),
    "slice": (SLICE, lambda h: h.start),
    "method": (W.mul, lambda h: h(1.0)),
    "method-wrapper": (W.__mul__, lambda h: h(1.0)),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("place", ["alone", "in a list"])
def test_a_holder_as_an_argument_is_refused(holder, way, place):
    value, read = HOLDERS[holder]

    @rc.primitive
    def times(h, x):
        return read(h if place == "alone" else h[0]) * x

    @rc.rrule.define(times)
    def times_rrule(h, x):
        return times(h, x), lambda dy: (
            NoTangent(),
            rc.not_implemented("holder"),
            3 * dy,
        )

    h = value if place == "alone" else [value]
    with pytest.raises(rules_torch.HiddenTensorsError, match="argument 'h'"):
        WAYS[way](lambda x: times(h, x))


class Pair:
    def __init__(self, scale, f):
        self.scale, self.f = scale, f

    def times(self, x):
        return self.scale * self.f(x)

    def helped(self, x):
        return self.scale * helper(x)


class Functions(list):
    def __call__(self, x):
        return self[0] * self[1](x)


def captures_both(scale):
    return lambda x: scale * helper(x)


def captures_a_pair(pair):
    return lambda x: pair.times(x)


def captures_a_container(values, w, f):
    return lambda x: values[w] * values[f](x)


SCALE = torch.tensor(2.0, requires_grad=True)
MIXED = {
    "closure": captures_both(SCALE),
    "partial": partial(lambda scale, f, x: scale * f(x), SCALE, helper),
    "partial of a method": partial(lambda scale, f, x: scale * f(x), SCALE, W.mul),
    "method": Pair(SCALE, helper).times,
    "method that reads": Pair(SCALE, None).helped,
    "method of a method": Pair(SCALE, W.mul).times,
    "instance in a closure": captures_a_pair(Pair(SCALE, helper)),
    "list of a class": Functions([SCALE, helper]),
    "list in a closure": captures_a_container([SCALE, helper], 0, 1),
    "dict in a closure": captures_a_container({"w": SCALE, "f": helper}, "w", "f"),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mixed", MIXED)
def test_beside_tensors_that_are_taken_out_it_is_refused_too(mixed, way):
    with pytest.raises(OUTSIDE, match=f"^twice: its argument 'f' .* {FOUND}"):
        WAYS[way](lambda x: twice(MIXED[mixed], x))


def test_a_holder_that_is_not_read_may_be_given():
    @rc.primitive
    def doubled(h, x):
        return 2 * x

    rule = rc.rrule.define(doubled)
    rule(lambda h, x: (2 * x, lambda dy: (NoTangent(), NoTangent(), 2 * dy)))
    for value, _ in HOLDERS.values():
        x = active()
        doubled(value, x).backward()
        assert x.grad == 2


def test_a_tensor_that_is_an_argument_too_is_refused():
    @rc.primitive
    def scaled(f, w, x):
        return f(w * x)

    @rc.rrule.define(scaled, config=rc.RuleConfig[rc.HasReverseMode])
    def scaled_rrule(config, f, w, x):
        y, pullback = rc.rrule_via_ad(config, f, w * x)

        def scaled_pullback(dy):
            df, dz = pullback(dy)
            return NoTangent(), df, dz * x, dz * w

        return y, scaled_pullback

    with pytest.raises(OUTSIDE, match="'f' reads 'W'"):
        scaled(READERS["global"], W, active())
    (found,) = torch.autograd.grad(scaled(torch.square, W, X), W)
    assert found == 2 * 3 * 5 * 5


def ignores(x):
    return rc.ignore_derivatives(BOX["w"]) * x


def detaches(x):
    return BOX["w"].detach() * x


def without_gradient(x):
    with torch.no_grad():
        factor = helper(torch.ones(()))
    return factor * x


CONSTANT = {
    "ignore_derivatives": ignores,
    "detach": detaches,
    "no_grad": without_gradient,
    "number": lambda x: float(BOX["w"].detach()) * x,
    "tensor without gradient": lambda x: PLAIN * x,
    "another entry": lambda x: (3 + 0 * BOX["eps"]) * x,
}


@pytest.mark.parametrize("body", CONSTANT)
def test_what_is_constant_may_be_read(body):
    plain = CONSTANT[body]
    f = with_rules(plain)
    for g in (f, f, lambda x: twice(plain, x)):
        power = 1 if g is f else 2
        x = active()
        g(x).backward()
        assert x.grad == 3**power
        assert func.grad(g)(X) == 3**power
        assert func.vmap(func.grad(g))(torch.ones(2)).tolist() == [3**power] * 2
    assert func.jvp(f, (X,), (X,))[1] == 15
    assert dual(f).tangent == 3


def test_where_no_argument_is_active_torch_differentiates():
    (found,) = torch.autograd.grad(twice(READERS["global"], X), W)
    assert found == 30
    with torch.no_grad():
        assert twice(READERS["global"], X) == 45
        assert with_rules(helper)(X) == 15


def test_what_is_active_only_later_is_refused_then():
    box = {"w": PLAIN}
    scope = {"w": None, "box": box, "times": lambda x: 3 * x, "__name__": "user"}
    for source, change in {
        "lambda x: (3 if w is None else w) * x": lambda: scope.update(w=W),
        "lambda x: box['w'] * x": lambda: box.update(w=W),
        "lambda x: times(x)": lambda: scope.update(times=helper),
    }.items():
        f = with_rules(eval(source, scope))
        g = eval(source, scope)
        for _ in range(2):
            x = active()
            (f(x) + twice(g, x)).backward()
            assert x.grad == 3 + 9
        change()
        for _ in range(2):
            with pytest.raises(OUTSIDE):
                f(active())
            with pytest.raises(OUTSIDE):
                twice(g, active())


def test_what_is_not_there_at_the_first_call_is_noticed_later(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text(f"from {__name__} import W\n")
    monkeypatch.syspath_prepend(tmp_path)
    scope = {"later": False, "__name__": "user"}
    source = """
def missing(x):
    return (w if later else 3) * x
def imports(x):
    if later:
        import imported_late
        return imported_late.W * x
    return 3 * x
"""
    exec(source, scope)
    pairs = [(with_rules(scope[name]), scope[name]) for name in ("missing", "imports")]
    for f, g in pairs:
        x = active()
        (f(x) + twice(g, x)).backward()
        assert x.grad == 3 + 9
    scope.update(later=True, w=W)
    importlib.import_module("imported_late")
    for f, g in pairs:
        for call in (f, lambda x, g=g: twice(g, x)):
            with pytest.raises(OUTSIDE):
                call(active())


def test_a_tangent_of_a_global_is_noticed():
    with fwd.dual_level():
        scope = {"V": fwd.make_dual(torch.tensor(3.0), torch.tensor(1.0))}
        body = eval("lambda x: V * x", scope)
        f = rc.Primitive(body)
        rc.scalar_rule(body, lambda y, x: (3.0,))
        moving = fwd.make_dual(torch.tensor(5.0), torch.tensor(1.0))
        for call in (lambda: f(X), lambda: f(moving), lambda: twice(body, moving)):
            with pytest.raises(OUTSIDE, match="reads 'V'"):
                call()


def test_a_default_of_a_keyword_is_a_keyword():
    @rc.primitive
    def scaled(x, *, w=W):
        return x * w

    rc.rrule.define(scaled)(
        lambda x, *, w: (x * w, lambda dy: (NoTangent(), dy * w.detach()))
    )
    for call in (lambda x: scaled(x), lambda x: scaled(x, w=W)):
        for _ in range(2):
            with pytest.raises(rules_torch.KeywordDerivativeError, match="'w'"):
                call(active()).backward()
    x = active()
    scaled(x, w=PLAIN).backward()
    assert x.grad == 3


def test_a_default_of_an_argument_is_an_argument():
    @rc.primitive
    def scaled(x, w=W):
        return x * w

    rc.scalar_rule(scaled, lambda y, x, w: (w, x))
    (found,) = torch.autograd.grad(scaled(active()), W)
    assert found == 5


@pytest.mark.parametrize("way", WAYS)
def test_an_instance_as_a_function_with_rules(way):
    class Scaling:
        w = W

        def __call__(self, x):
            return self.w * x

    for body in (Scaling(), Caller()):
        f = rules_torch.to_torch(body)
        rc.rrule.define(body)(lambda x: (3 * x, lambda dy: (NoTangent(), 3 * dy)))
        with pytest.raises(OUTSIDE):
            WAYS[way](f)


@pytest.mark.parametrize("reader", ["global", "entry", "helper"])
@pytest.mark.parametrize("host_rule", [False, True])
def test_a_function_that_a_host_function_is_given(reader, host_rule):
    @rc.primitive(host=True)
    def called(f, x):
        return f(x)

    @rc.rrule.define(called, config=rc.RuleConfig[rc.HasReverseMode], host=host_rule)
    def called_rrule(config, f, x):
        y, pullback = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pullback(dy))

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(OUTSIDE, match="its argument 'f'"):
        called(READERS[reader], x)
    called(lambda x: 3 * x, x).sum().backward()
    assert x.grad.tolist() == [3, 3]


COMPILED = ["entry", "helper", "module", "property", "cache", "parameters"]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("reader", COMPILED)
def test_compiled_code_refuses_it_too(reader, fresh):
    f = with_rules(READERS[reader])
    for g in (f, lambda x: twice(READERS[reader], x)):
        with pytest.raises(OUTSIDE):
            torch.compile(g, backend="aot_eager")(active())


def test_the_package_of_the_body_is_searched_where_it_is_installed(
    tmp_path, monkeypatch
):
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "package_of_a_user.py").write_text(
        "import torch\n"
        "W = torch.tensor(3.0, requires_grad=True)\n"
        "class Settings:\n"
        "    @property\n"
        "    def w(self):\n"
        "        return W\n"
        "SETTINGS = Settings()\n"
        "def by_name(x):\n"
        "    return W * x\n"
        "def by_helper(x):\n"
        "    return by_name(x)\n"
        "def by_property(x):\n"
        "    return SETTINGS.w * x\n"
    )
    monkeypatch.syspath_prepend(place)
    module = importlib.import_module("package_of_a_user")
    for body in (module.by_name, module.by_helper, module.by_property):
        for call in (with_rules(body), lambda x, body=body: twice(body, x)):
            with pytest.raises(OUTSIDE):
                call(active())
    with pytest.raises(OUTSIDE):
        twice(captures_a_pair(Pair(SCALE, module.by_property)), active())


def test_the_search_ends():
    loop = {"w": None}
    loop["self"] = loop
    many = [object() for _ in range(5000)]
    scope = {"loop": loop, "many": many, "deep": lambda x: deep(x)}
    deep = eval("lambda x: 3 * x if loop and many else deep(x)", scope)
    x = active()
    with_rules(deep)(x).backward()
    assert x.grad == 3
    loop["w"] = W
    with pytest.raises(OUTSIDE, match="its body reads 'loop'"):
        with_rules(eval("lambda x: loop['w'] * x * len(many)", scope))(x)
