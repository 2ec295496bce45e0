"""What two processes of the distribution tests run: three steps of SGD."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from tests.adapters.torch.formulas import sinmul

STEPS, SIZE = 3, 4
DATA = torch.linspace(-1, 1, 2 * SIZE * 4).reshape(2, 4, SIZE)
F = sinmul().f


class Net(nn.Module):
    def __init__(self, *, checkpoint: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, 2)
        self.checkpoint = checkpoint

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.checkpoint:
            from torch.utils.checkpoint import checkpoint

            h = checkpoint(lambda t: F(self.first(t)), x, use_reentrant=False)
        else:
            h = F(self.first(x))
        return F(self.second(h))


def train(model: Any, parameters: Any, batches: Any) -> None:
    optimiser = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(STEPS):
        optimiser.zero_grad()
        model(batches).square().mean().backward()
        optimiser.step()


def single() -> list[torch.Tensor]:
    """The parameters after training in one process on all data."""
    net = Net()
    train(net, net.parameters(), DATA.reshape(-1, SIZE))
    return [p.detach() for p in net.parameters()]


def ddp(rank: int, **options: Any) -> list[torch.Tensor]:
    from torch.nn.parallel import DistributedDataParallel

    net = Net(checkpoint=options.pop("checkpoint", False))
    compiled = options.pop("compile", False)
    model: Any = DistributedDataParallel(net, **options)
    if compiled:
        model = torch.compile(model, backend="aot_eager")
    train(model, net.parameters(), DATA[rank])
    return [p.detach() for p in net.parameters()]


def fsdp(rank: int) -> list[torch.Tensor]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    net = Net()
    fully_shard(net, mesh=init_device_mesh("cpu", (2,)))
    train(net, net.parameters(), DATA[rank])
    return [p.full_tensor().detach() for p in net.parameters()]


def dtensor(rank: int, shard: bool) -> list[torch.Tensor]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import (
        Replicate,
        Shard,
        distribute_module,
        distribute_tensor,
    )  # fmt: skip

    mesh = init_device_mesh("cpu", (2,))

    def place(_name: str, module: nn.Module, mesh: Any) -> None:
        for key, value in list(module.named_parameters(recurse=False)):
            where = Shard(0) if shard else Replicate()
            made = nn.Parameter(distribute_tensor(value, mesh, [where]))
            module.register_parameter(key, made)

    net = distribute_module(Net(), mesh, place)
    batch = distribute_tensor(DATA.reshape(-1, SIZE), mesh, [Replicate()])
    train(net, net.parameters(), batch)
    return [p.full_tensor().detach() for p in net.parameters()]


def tensor_parallel(rank: int) -> list[torch.Tensor]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )  # fmt: skip

    mesh = init_device_mesh("cpu", (2,))
    plan = {"first": ColwiseParallel(), "second": RowwiseParallel()}
    net = parallelize_module(Net(), mesh, plan)
    train(net, net.parameters(), DATA.reshape(-1, SIZE))
    return [p.full_tensor().detach() for p in net.parameters()]


WAYS = {
    "ddp": ddp,
    "ddp, static graph": lambda rank: ddp(rank, static_graph=True),
    "ddp, checkpoint": lambda rank: ddp(rank, checkpoint=True),
    "ddp, compiled": lambda rank: ddp(rank, compile=True),
    "fsdp2": fsdp,
    "dtensor, replicated": lambda rank: dtensor(rank, shard=False),
    "dtensor, sharded": lambda rank: dtensor(rank, shard=True),
    "tensor parallel": tensor_parallel,
}


def main(way: str, rank: int, store: str) -> None:
    """One process of the two; prints what differs."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=2
    )
    for mine, theirs in zip(WAYS[way](rank), single(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=1e-5)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
