"""torch.export: the rule survives, and differentiates the exported module."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jacrev, jvp, vmap

import rules_core as rc
from rules_torch import UntraceableError
from tests.adapters.torch.formulas import host_sine, marker, sinmul

# torch's own compiler stack warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore")
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


class Net(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f
        self.w = torch.nn.Parameter(torch.tensor([2.0, 3.0], dtype=torch.float64))

    def forward(self, x):
        return self.f(self.w * x).cos()


def gradient(module):
    module.zero_grad()
    module(X).sum().backward()
    return next(iter(module.parameters())).grad.clone()


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_the_exported_module_is_differentiated_by_the_rule(strict, host):
    net = Net(marker("both", host=host).f)
    program = torch.export.export(net, (X,), strict=strict)
    module = program.module()
    torch.testing.assert_close(module(X), net(X))
    torch.testing.assert_close(gradient(module), gradient(net))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    loaded = torch.export.load(buffer).module()
    torch.testing.assert_close(gradient(loaded), gradient(net))


@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_second_derivatives_through_an_exported_module(make):
    made = make("rrule")
    module = torch.export.export(Net(made.f), (X,), strict=False).module()
    assert torch.autograd.gradcheck(module, (X.clone().requires_grad_(),))
    assert torch.autograd.gradgradcheck(module, (X.clone().requires_grad_(),))


def test_several_outputs_and_static_arguments():
    @rc.primitive
    def pair(x, n, *, name="a"):
        return {"y": x * n, "s": (x.sum(), name)}

    @rc.rrule.define(pair)
    def pair_rrule(x, n, *, name="a"):
        def pair_pullback(dy):
            return rc.NoTangent(), 5 * dy["y"] * n + dy["s"][0], rc.NoTangent()

        return pair(x, n, name=name), pair_pullback

    class Both(torch.nn.Module):
        def forward(self, x):
            out = pair(x, 2, name="b")
            return out["y"] * out["s"][0]

    module = torch.export.export(Both(), (X,), strict=False).module()
    x = X.clone().requires_grad_()
    module(x).sum().backward()
    mine = x.grad.clone()
    x.grad = None
    Both()(x).sum().backward()
    torch.testing.assert_close(mine, x.grad)


def test_a_primitive_without_rules_is_exported_as_what_it_does():
    plain = rc.primitive(lambda x: x * 2)
    program = torch.export.export(Net(plain), (X,), strict=False)
    assert "rules_torch" not in str(program.graph)


@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_the_operator_of_an_exported_primitive_passes_opcheck(make):
    program = torch.export.export(Net(make().f), (X,), strict=False)
    (name,) = calls(program)
    x = X.clone().requires_grad_()
    torch.library.opcheck(torch.ops.rules_torch.call, (name, [x]))


def calls(program):
    """What the operators of a program call, in words."""
    return [
        node.args[0]
        for node in program.graph.nodes
        if node.target is torch.ops.rules_torch.call.default
    ]


def dual(f):
    with torch.autograd.forward_ad.dual_level():
        made = torch.autograd.forward_ad.make_dual(X, torch.ones_like(X))
        return torch.autograd.forward_ad.unpack_dual(f(made)).tangent


def total(f):
    return lambda x: f(x).sum()


WAYS = {
    "forward_ad": (dual, 2),
    "jvp": (lambda f: jvp(f, (X,), (torch.ones_like(X),))[1], 2),
    "grad": (lambda f: grad(total(f))(X), 3),
    "vmap(grad)": (lambda f: vmap(grad(lambda x: f(x[None])[0]))(X), 3),
    "grad(vmap)": (lambda f: grad(lambda x: vmap(f)(x[None]).sum())(X), 3),
    "jacrev": (lambda f: jacrev(f)(X).diagonal(), 3),
    "compile(grad)": (
        lambda f: torch.compile(grad(total(f)), backend="aot_eager")(X),
        3,
    ),
    "compile(jvp)": (
        lambda f: torch.compile(
            lambda x: jvp(f, (x,), (torch.ones_like(x),))[1], backend="aot_eager"
        )(X),
        2,
    ),
    "hessian": (lambda f: hessian(lambda x: (f(x) ** 2).sum())(X).diagonal() / 2, 6),
}


class Marked(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x) * 1


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_every_transform_of_an_exported_module_finds_its_rule(way, host, decomposed):
    f = marker("both", host=host).f
    program = torch.export.export(Marked(f), (X,), strict=False)
    if decomposed:
        program = program.run_decompositions()
    module = program.module()
    # A graph module checks the shape that it was exported with.
    run, scale = WAYS[way]
    if way == "vmap(grad)":
        module = torch.export.export(Marked(f), (X[:1],)).module()
    torch.testing.assert_close(run(module), torch.full_like(X, scale))


@pytest.mark.parametrize("transform", [vmap, grad], ids=["vmap", "grad"])
def test_transforms_inside_are_refused_in_words(transform):
    """torch cannot export those of its own operations either."""
    f = marker("both").f
    inside = transform(lambda x: f(x).sum())
    with pytest.raises(UntraceableError, match="transform what is exported"):
        torch.export.export(Marked(inside), (X,), strict=False)


def test_dynamic_shapes():
    f = marker("both").f
    size = torch.export.Dim("size", min=2)
    program = torch.export.export(
        Marked(f), (X,), dynamic_shapes=({0: size},), strict=False
    )
    x = torch.rand(5, dtype=torch.float64, requires_grad=True)
    program.module()(x).sum().backward()
    assert x.grad.tolist() == [3] * 5


def test_an_argument_that_is_returned():
    @rc.primitive
    def same(x):
        return x, x[:1]

    @rc.rrule.define(same)
    def same_rrule(x):
        def same_pullback(dy):
            return rc.NoTangent(), 3 * dy[0] + 5 * torch.nn.functional.pad(
                dy[1], (0, 1)
            )

        return (x, x[:1]), same_pullback

    class Both(torch.nn.Module):
        def forward(self, x):
            y, z = same(x)
            return y * 1, z * 1

    program = torch.export.export(Both(), (X,), strict=False)
    x = X.clone().requires_grad_()
    y, z = program.module()(x)
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [8, 3]
    (name,) = calls(program)
    torch.library.opcheck(torch.ops.rules_torch.call, (name, [x]))


def test_a_host_function_with_effects_is_refused():
    # not NumPy's own function, which would be a primitive for later tests too
    noise = rc.primitive(lambda x: np.sin(x), host=True, elementwise=True, pure=False)
    with pytest.raises(UntraceableError, match="declared pure=False"):
        torch.export.export(Marked(noise), (X,), strict=False)


MODULE = """
import rules_core as rc

@rc.primitive
def scaled(box, by, *, flip=False, where=slice(None)):
    y = box["x"][where] * by
    return {"y": -y if flip else y, "name": box["name"]}

@rc.rrule.define(scaled)
def scaled_rrule(box, by, *, flip=False, where=slice(None)):
    def scaled_pullback(dy):
        dx = 7 * dy["y"] * by
        return rc.NoTangent(), {"x": -dx if flip else dx}, rc.NoTangent()
    return scaled(box, by, flip=flip, where=where), scaled_pullback
"""
EXPORTING = """
import torch, elsewhere
class Model(torch.nn.Module):
    def forward(self, x):
        box = {"x": x, "name": "it's a \\"name\\""}
        out = elsewhere.scaled(box, 0.5, flip=True, where=slice(0, None))
        return out["y"] * (out["name"] == box["name"])
x = torch.tensor([1.0, 2.0])
torch.export.save(torch.export.export(Model(), (x,), strict=STRICT), "model.pt2")
"""
LOADING = """
import torch, rules_torch
module = torch.export.load("model.pt2").module()
x = torch.tensor([1.0, 2.0], requires_grad=True)
module(x).sum().backward()
assert x.grad.tolist() == [-3.5, -3.5], x.grad
assert torch.func.jvp(module, (x.detach(),), (torch.ones(2),))[1].tolist() == [-3.5] * 2
"""


def run(code, folder):
    command = [sys.executable, "-W", "ignore", "-c", code]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder)}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=env, check=False
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "strict", [False, pytest.param(True, marks=pytest.mark.nightly)]
)
def test_another_process_loads_a_program(tmp_path, strict):
    """Once it has imported the module that defines the primitive."""
    (tmp_path / "elsewhere.py").write_text(MODULE, encoding="utf-8")
    made = run(EXPORTING.replace("STRICT", str(strict)), tmp_path)
    assert made.returncode == 0, made.stderr[-2000:]
    loaded = run("import elsewhere" + LOADING, tmp_path)
    assert loaded.returncode == 0, loaded.stderr[-2000:]
    without = run(LOADING, tmp_path)
    assert "an exported program calls it, and elsewhere is not imported" in (
        without.stderr
    )
    assert "Import elsewhere before the program runs." in without.stderr


@pytest.mark.full
def test_another_process_loads_what_this_one_saved(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    try:
        exec(EXPORTING.replace("STRICT", "False"), {})
    finally:
        del sys.modules["elsewhere"]
    loaded = run("import elsewhere" + LOADING, tmp_path)
    assert loaded.returncode == 0, loaded.stderr[-2000:]


def test_the_text_about_a_call_that_this_process_does_not_know():
    with pytest.raises(UntraceableError) as info:
        torch.ops.rules_torch.call("make.scaled#7 it is local", [X])
    assert str(info.value) == (
        "make.scaled cannot be compiled by torch: the program was exported by another "
        "process, and it is local. Export it again in this process, or change that."
    )


@pytest.mark.nightly
def test_a_program_of_another_process_that_has_no_name_for_what_it_calls(tmp_path):
    """The primitive was defined inside a function there."""
    inside = "def make():\n" + "".join(f"    {line}\n" for line in MODULE.splitlines())
    (tmp_path / "elsewhere.py").write_text(
        f"{inside}    return scaled\nlocal = make()\n", encoding="utf-8"
    )
    made = run(
        EXPORTING.replace("STRICT", "False").replace(".scaled", ".local"), tmp_path
    )
    assert made.returncode == 0, made.stderr[-2000:]
    loaded = run("import elsewhere" + LOADING, tmp_path)
    assert "the program was exported by another process, and make.<locals>.scaled" in (
        loaded.stderr
    )
