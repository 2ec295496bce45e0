"""Sphinx settings. Warnings are errors (`make docs`)."""

from importlib.metadata import version as installed_version

project = "rules-core"
author = "The rules-core authors"
project_copyright = "2026, The rules-core authors"
release = version = installed_version("rules-core")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
default_role = "code"
html_theme = "furo"
html_title = "rules-core"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"show-inheritance": True}
napoleon_numpy_docstring = False
napoleon_use_rtype = False

copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True
