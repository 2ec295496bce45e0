"""Faults that authors of adapters make, as changes of the toy host's text.

Each is found by its own check, which says what to write. The faults of
`test_adapters.py` are in the kit; those of `adapter_faults.txt` in what authors write.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

import jax
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core._primitives.find_host import serving
from rules_core.extend import FlatCall
from rules_core.testing import CheckFailed, Report, check_adapter, isolated_rules
from rules_core.testing._adapters.check import FORM
from rules_core.testing._adapters.host import Host
from rules_core.testing._adapters.promises import PROMISES
from rules_core.testing._checks import execute
from rules_core.testing._cures import cure_of

TOY = Path(__file__).parent / "toyhost" / "toyhost"


def read_faults():
    """What each fault is, its check and its changes of the toy host's text."""
    text = (TOY.parents[1] / "adapter_faults.txt").read_text(encoding="utf-8")
    for block in text.split("\n# ")[1:]:
        title, _, changes = block.partition("\n")
        pairs = re.findall(r"<<<<\n(.*?)\n====\n(.*?)\n>>>>", changes, re.DOTALL)
        fault, _, check = title.rpartition(": ")
        yield fault, (check, pairs)


FAULTS = dict(read_faults())


@pytest.fixture
def changed(monkeypatch, tmp_path):
    """The adapter of a toy host whose text is changed."""

    def change(changes):
        package = tmp_path / "toyhost"
        package.mkdir()
        texts = {file.name: file.read_text() for file in TOY.glob("*.py")}
        for old, new in changes:
            (name,) = [name for name, text in texts.items() if text.count(old) == 1]
            texts[name] = texts[name].replace(old, new)
        for name, text in texts.items():
            (package / name).write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return __import__("toyhost.adapter").adapter.adapter

    yield change
    for name in [name for name in sys.modules if name.partition(".")[0] == "toyhost"]:
        del sys.modules[name]


def everyday():
    """One fault of each check; the others are for the full run."""
    seen = set()
    for fault, (check, _) in FAULTS.items():
        yield pytest.param(fault, marks=[pytest.mark.full] if check in seen else [])
        seen.add(check)


@pytest.mark.parametrize("fault", list(everyday()))
def test_a_fault_fails_one_check_that_says_what_to_write(changed, fault):
    check, changes = FAULTS[fault]
    with pytest.raises(CheckFailed) as caught:
        check_adapter(changed(changes))
    report = caught.value.report
    wrong = [check.name for check in report if check.status in ("failed", "refused")]
    assert wrong == [check]
    assert f"write: {cure_of(check)}" in str(caught.value)


# Faults in JAX's and PyTorch's adapters, of what the toy host does not have as well.


def answers(change):
    """Change the cotangents that pullbacks gave, leaf by leaf."""

    def patch(monkeypatch, host):
        right = FlatCall.cotangents

        def cotangents(self, *args):
            return [x if x is None else change(host, x) for x in right(self, *args)]

        monkeypatch.setattr(FlatCall, "cotangents", cotangents)

    return patch


def stopped(host, x):
    return x.detach() if host == "torch" else jax.lax.stop_gradient(x)


def conjugated(host, x):
    return x.conj()


def single(host, x):
    if host == "jax":
        return x.astype("complex64" if x.dtype.kind == "c" else "float32")
    return x.to(torch.complex64 if x.is_complex() else torch.float32)


def in_adapter(name, change):
    def patch(monkeypatch, host):
        adapter = import_module(f"rules_{host}").adapter
        monkeypatch.setattr(type(adapter), name, change)

    return patch


def flat(name, change):
    return lambda monkeypatch, host: monkeypatch.setattr(FlatCall, name, change)


def one_long_array(monkeypatch, host):
    rule = property(lambda self: lambda size, batched, *args: (self.fun(*args), True))
    monkeypatch.setattr(rc.Primitive, "batch_rule", rule)


def first_of_the_batch(monkeypatch, host):
    def of(self):
        def rule(size, batched, *args):
            row = [x[0] if b else x for x, b in zip(args, batched, strict=True)]
            return np.stack([self.fun(*row)] * size), True

        return rule

    monkeypatch.setattr(rc.Primitive, "batch_rule", property(of))


REAL_FAULTS = {
    "stops derivatives of derivatives": ("second", answers(stopped)),
    "stops those of containers": ("second-containers", answers(stopped)),
    "conjugates cotangents": ("complex", answers(conjugated)),
    "makes cotangents float32": ("precision", answers(single)),
    "owns nothing": ("adapter.arrays", in_adapter("owns", lambda self, cls: False)),
    "stops nothing": ("stop-gradient", in_adapter("stop_gradient", lambda self, x: x)),
    "needs everything": (
        "needs",
        flat("needs", lambda self, wanted, before=0: (True,) * len(self.parts)),
    ),
    "makes keywords constants": (
        "keyword-derivative",
        flat("keyword", lambda self, wanted: None),
    ),
    "binds nothing": (
        "names",
        lambda monkeypatch, host: monkeypatch.setattr(
            rc.Primitive, "bind", lambda self, args, kwargs: (args, kwargs)
        ),
    ),
    "does not count": (
        "count",
        flat(
            "cotangents",
            lambda self, rule, answer, read, count: [
                x
                for i, part in enumerate(self.slices)
                for x in read(i, answer[-1], part)
            ],
        ),
    ),
    "batches as one long array": ("batches", one_long_array),
    "computes the first of a batch": ("batches", first_of_the_batch),
}


# PyTorch's adapter has ways of its own where all arguments are tensors.
JAX_ALONE = {
    "stops derivatives of derivatives",
    "conjugates cotangents",
    "makes cotangents float32",
    "binds nothing",
    "does not count",
}


@pytest.mark.parametrize(
    ("fault", "host"),
    [
        (fault, host)
        for fault in REAL_FAULTS
        for host in ("jax", "torch")
        if host == "jax" or fault not in JAX_ALONE
    ],
)
def test_faults_of_our_adapters_are_found(monkeypatch, host, fault):
    """By their checks alone, which are run without those that they rest on."""
    name, patch = REAL_FAULTS[fault]
    adapter = import_module(f"rules_{host}").adapter
    patch(monkeypatch, host)
    report = Report(host)
    with isolated_rules(), serving(adapter):
        cells = list(adapter.cells("quick"))
        execute([s for s in FORM if s.name == name], (adapter, cells), report)
        promises = [s for s in PROMISES if s.name == name]
        execute(promises, Host(adapter, cells), report)
    assert [check.status for check in report] == ["failed"]
