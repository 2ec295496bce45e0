"""Sphinx settings. Warnings are errors (`make docs`)."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _extensions.inventories import write_all  # noqa: E402  # found by the line above

project = "rules-core"
author = "The rules-core authors"
project_copyright = "2026, The rules-core authors"
release = version = installed_version("rules-core")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "_extensions.linked_names",
    "_extensions.notebooks",
    "_extensions.viewed_code",
]
exclude_patterns = ["_build", "_extensions", "pictures"]
default_role = "code"
html_theme = "furo"
html_title = "rules-core"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["filter.js"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Written here, so that a build needs no network.
intersphinx_mapping = write_all(HERE / "_build" / "inventories")

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"show-inheritance": True}
napoleon_numpy_docstring = False
napoleon_use_rtype = False

copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True
