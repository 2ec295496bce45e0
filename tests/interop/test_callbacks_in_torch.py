"""Rules that call back into AD, in PyTorch: their text is that of every other host."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

from tests.interop.callbacks import MOST_STEPS, fixed_point, map_

A = torch.tensor([0.3, 0.5], dtype=torch.float64)
X0 = torch.zeros_like(A)
ROWS = torch.stack([A, A + 0.1])


def cosine(a, x):
    return torch.cos(x) * a


def solved(a):
    return fixed_point(cosine, a, X0)


def unrolled(a):
    x = X0
    for _ in range(MOST_STEPS):
        x = cosine(a, x)
    return x


def total(f):
    return lambda *args: f(*args).sum()


def mapped(w, *xs):
    """What the function captures is differentiated as well."""
    return map_(lambda x: torch.sin(w * x), list(xs))


def stacked(w, *xs):
    return torch.stack([torch.sin(w * x) for x in xs])


PAIRS = {
    "fixed_point": (solved, unrolled, (A,)),
    "map_": (mapped, stacked, (torch.tensor(2.0, dtype=torch.float64), A, A + 1)),
}


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


def leaves(args):
    return tuple(x.clone().requires_grad_() for x in args)


def test_gradcheck(pair):
    f, _, args = pair
    assert gradcheck(f, leaves(args), check_forward_ad=True, check_batched_grad=True)


@pytest.mark.covering(every=2, start=1)
def test_gradgradcheck(pair):
    f, _, args = pair
    assert gradgradcheck(f, leaves(args), check_fwd_over_rev=True)


SECOND = {
    "hessian": hessian,
    "rev rev": lambda f: jacrev(jacrev(f)),
    "fwd fwd": lambda f: jacfwd(jacfwd(f)),
    "rev fwd": lambda f: jacrev(jacfwd(f)),
}
BATCHED = {"grad": grad, "hessian": hessian}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(pair, name):
    f, reference, args = pair
    ours, theirs = SECOND[name](total(f)), SECOND[name](total(reference))
    torch.testing.assert_close(ours(*args), theirs(*args))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", BATCHED)
def test_batches(pair, name):
    f, reference, args = pair
    rows = [torch.stack([x, 1.1 * x]) for x in args]
    ours, theirs = BATCHED[name](total(f)), BATCHED[name](total(reference))
    torch.testing.assert_close(vmap(ours)(*rows), vmap(theirs)(*rows))


def forward(f):
    return lambda *args: jvp(f, args, tuple(torch.cos(x) for x in args))[1].sum()


def reverse(f):
    return lambda *args: grad(lambda *xs: f(*xs).sum())(*args).sum()


@pytest.mark.parametrize(
    "word",
    [
        "GJG",
        *(
            pytest.param("".join(word), marks=pytest.mark.nightly)
            for word in itertools.product("GJ", repeat=3)
            if "".join(word) != "GJG"
        ),
    ],
)
def test_third_derivatives(pair, word):
    """A level that a tensor knows only inside another wrapper counts as well."""
    f, reference, args = pair
    for letter in word:
        step = {"G": reverse, "J": forward}[letter]
        f, reference = step(f), step(reference)
    found = f(*args)
    assert not found.requires_grad
    torch.testing.assert_close(found, reference(*args))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_over_reverse_by_dual_numbers(pair, create_graph):
    """The backward pass keeps the tangents of what it evaluates again."""

    def product(f, args):
        xs = leaves(args)
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, torch.ones_like(x)) for x in xs]
            found = torch.autograd.grad(
                f(*duals).sum(), duals, create_graph=create_graph
            )
            return [forward_ad.unpack_dual(g).tangent.detach() for g in found]

    f, reference, args = pair
    torch.testing.assert_close(product(f, args), product(reference, args))


def sines(x):
    return map_(torch.sin, [x, x + 1])


COMPILED = {
    "fixed_point": (solved, unrolled),
    "map_": (sines, lambda x: torch.stack([x.sin(), (x + 1).sin()])),
}
TRANSFORMS = {"f": lambda f: f, "hessian": hessian, "vmap(grad)": vmap}


@pytest.mark.covering(every=4)
@pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns about itself
@pytest.mark.parametrize(
    ("name", "transform"),
    [
        *(("map_", transform) for transform in TRANSFORMS),
        ("fixed_point", "f"),
        *(
            pytest.param("fixed_point", transform, marks=pytest.mark.nightly)
            for transform in ("hessian", "vmap(grad)")
        ),
    ],
)
def test_compiled(name, transform):
    torch.compiler.reset()
    ours, theirs = (total(f) for f in COMPILED[name])
    x = A
    if transform == "vmap(grad)":
        ours, theirs, x = grad(ours), grad(theirs), ROWS
    run = TRANSFORMS[transform]
    fast = torch.compile(run(ours), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(fast(x), run(theirs)(x))


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_training_step():
    torch.compiler.reset()
    a = A.clone().requires_grad_()
    torch.compile(total(solved), fullgraph=True, backend="aot_eager")(a).backward()
    torch.testing.assert_close(a.grad, grad(total(unrolled))(A))


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(A.clone())

    def forward(self, _a, x):
        return torch.cos(x) * self.w


def test_what_a_callable_argument_captures_gets_its_gradient():
    scale, module = A.clone().requires_grad_(), Step()
    expected = grad(total(unrolled))(A)

    def step(_a, x):
        return torch.cos(x) * scale

    (first,) = torch.autograd.grad(
        fixed_point(step, A, X0).sum(), scale, create_graph=True
    )
    torch.testing.assert_close(first, expected)
    (second,) = torch.autograd.grad(first.sum(), scale)
    torch.testing.assert_close(second, hessian(total(unrolled))(A).sum(0))
    fixed_point(module, A, X0).sum().backward()
    torch.testing.assert_close(module.w.grad, expected)

    def loss(scale):
        return fixed_point(lambda _a, x: torch.cos(x) * scale, A, X0).sum()

    torch.testing.assert_close(hessian(loss)(A), hessian(total(unrolled))(A))


def test_parameters_in_a_container():
    def f(a, b):
        def step(theta, x):
            return torch.cos(x) * theta["a"] + theta["b"][0]

        return fixed_point(step, {"a": a, "b": (b,)}, X0)

    assert gradgradcheck(f, leaves((A, 0.1 * A)))


@pytest.mark.filterwarnings("ignore")
def test_a_module_in_compiled_code_leaves_the_graph():
    """With `fullgraph=True` that is an error: `test_compile_arguments`."""
    torch.compiler.reset()
    module = Step()
    fast = torch.compile(lambda a: fixed_point(module, a, X0), backend="aot_eager")
    fast(A).sum().backward()
    torch.testing.assert_close(module.w.grad, grad(total(unrolled))(A))
