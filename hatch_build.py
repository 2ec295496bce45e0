"""Builds the handler of native calls with the wheel, where there is a C compiler.

Without one, or with `RULES_JAX_NATIVE=0` in the environment, the wheel is pure Python:
compiled JAX programs then reach every host function by callback.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("adapters/rules_jax/_host/native")
FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC", "-pthread"]


def compiler() -> list[str] | None:
    """The command of a C compiler, or None."""
    chosen = os.environ.get("CC")
    if chosen:
        return shlex.split(chosen)
    names = (shutil.which(name) for name in ("cc", "gcc", "clang"))
    return next(([name] for name in names if name), None)


def build(root: Path) -> Path | None:
    """The compiled handler beside its source, or None where it cannot be built."""
    source, target = root / FOLDER / "handler.c", root / FOLDER / "handler.so"
    target.unlink(missing_ok=True)
    command = compiler()
    if command is None or os.environ.get("RULES_JAX_NATIVE") == "0":
        return None
    made = target.with_suffix(f".{os.getpid()}")
    try:
        subprocess.run([*command, *FLAGS, "-o", made, source], check=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"no native calls: {error}", file=sys.stderr)  # noqa: T201  # a log
        made.unlink(missing_ok=True)
        return None
    made.replace(target)  # whole at once: a running program may have loaded the old one
    return target


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the handler to the wheel, which is then one for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it; an editable installation finds it beside its source."""
        built = build(Path(self.root))
        if built is None or version == "editable":
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(built)] = "rules_jax/_host/native/handler.so"
