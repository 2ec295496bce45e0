"""Run the Python of a Markdown page: run_page.py PAGE [MISSING …].

Needs nothing but Python. The libraries MISSING must not be installed.
"""

import doctest
import re
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


# PyTorch's own, from its first forward-mode call: as in pyproject.toml.
ITS_OWN = r"`torch\.jit\.[a-z_]*` is deprecated"


def main():
    """Run the page that is named; warnings are errors."""
    warnings.simplefilter("error")
    for kind in (DeprecationWarning, FutureWarning):
        warnings.filterwarnings("ignore", ITS_OWN, kind)
    page, missing = Path(sys.argv[1]), sys.argv[2:]
    there = [name for name in missing if find_spec(name)]
    if there:
        sys.exit(f"installed, but not by this extra: {there}")
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    if not blocks:
        sys.exit(f"{page} has no Python")
    names = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        if block[1].startswith(">>>"):
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block[1], {}, page.name, str(page), line)
            test.globs = names
            runner.run(test, clear_globs=False)
        else:  # at its line of the page: the engine reads the source
            exec(compile("\n" * line + block[1], str(page), "exec"), names)
    sys.exit(runner.failures > 0)


if __name__ == "__main__":
    main()
