"""Public names in `code` become links to their entry in the reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

PACKAGES = (
    "rules_core.testing",
    "rules_core",
    "rules_autodiff",
    "rules_jax",
    "rules_torch",
)
ALIASES = {"rc.": "rules_core.", "np.": "numpy."}
# NumPy, JAX and PyTorch use these names too: they are linked with their package only.
AMBIGUOUS = frozenset(
    "Array checkpoint grad hessian hvp jacfwd jacrev jvp linearize rules show "
    "structure trace value_and_grad vjp".split()
)
# Tables of other libraries' names.
NOT_IN = re.compile(r"reference/(.*-pack|scipy-.*|coverage.*)$")


def short_names(objects: Any) -> dict[str, str]:
    """The names that pages use, and the entries that they mean."""
    found: dict[str, set[str]] = {}
    for full in objects:
        for package in PACKAGES:
            if full.startswith(f"{package}."):
                found.setdefault(full.removeprefix(f"{package}."), set()).add(full)
                break
    kind = "_rules.rule_kind.RuleKind."
    for method in ("define", "undefine", "resolve", "table"):
        for rule in ("rrule", "frule"):
            found[f"{rule}.{method}"] = {f"rules_core.{kind}{method}"}
    return {short: min(full) for short, full in found.items() if len(full) == 1}


def meant(text: str) -> str:
    """A name without its arguments, and with its package in full."""
    name = re.sub(r"\(.*\)$", "", text.removeprefix("@"), flags=re.DOTALL)
    for alias, package in ALIASES.items():
        if name.startswith(alias):
            return package + name.removeprefix(alias)
    return name


class LinkedNames(SphinxPostTransform):
    """Links each name that the reference or another project's inventory has."""

    default_priority = 400

    def run(self, **kwargs: Any) -> None:
        """Look at every inline code of a page."""
        if NOT_IN.search(self.env.docname):
            return
        objects = self.env.domains["py"].objects
        short = short_names(objects)
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, (nodes.reference, nodes.title)):
                continue
            name = meant(literal.astext())
            if name not in AMBIGUOUS:
                self._link(literal, short.get(name, name), objects)

    def _link(self, literal: nodes.literal, name: str, objects: Any) -> None:
        copied = literal.deepcopy()
        if name in objects:
            entry, here = objects[name], self.env.docname
            link = make_refnode(
                self.app.builder, here, entry.docname, entry.node_id, copied, name
            )
        else:
            known = self.env.intersphinx_inventory.get("py:function", {}).get(name)
            if known is None:
                return
            link = nodes.reference("", "", copied, refuri=known.uri, internal=False)
        literal.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the transform."""
    app.add_post_transform(LinkedNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
