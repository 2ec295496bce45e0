"""Inventories for intersphinx of the names that our pages link, made without a network.

The pages of these projects are named after what they describe.
"""

from __future__ import annotations

import zlib
from pathlib import Path

__all__ = ["write_all"]

PROJECTS = {
    "numpy": ("https://numpy.org/doc/stable/", "reference/generated/{name}.html"),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        "reference/generated/{name}.html",
    ),
    "jax": ("https://docs.jax.dev/en/latest/", "_autosummary/{name}.html"),
    "torch": ("https://docs.pytorch.org/docs/stable/", "generated/{name}.html"),
}
NAMES = {
    "numpy": "cbrt einsum errstate interp piecewise vectorize linalg.eigh linalg.solve",
    "scipy": "special.kv special.jv special.wrightomega linalg.lu_factor "
    "linalg.solve_sylvester fft.dct optimize.root sparse.linalg.spsolve",
    "jax": "custom_jvp custom_vjp grad hessian jacfwd jacrev jit jvp linearize "
    "pure_callback value_and_grad vjp vmap",
    "torch": "compile func.grad func.hessian func.jvp func.vmap",
}


def write(path: Path, project: str) -> None:
    """One inventory, in Sphinx's format."""
    pattern = PROJECTS[project][1]
    lines = [
        f"{full} py:function 1 {pattern.format(name=full)}#{full} -\n"
        for full in (f"{project}.{name}" for name in NAMES[project].split())
    ]
    head = (
        "# Sphinx inventory version 2\n"
        f"# Project: {project}\n"
        "# Version: stable\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))


def write_all(folder: Path) -> dict[str, tuple[str, str]]:
    """All inventories, and the setting that names them."""
    mapping = {}
    for project, (address, _) in PROJECTS.items():
        path = folder / f"{project}.inv"
        write(path, project)
        mapping[project] = address, str(path)
    return mapping
