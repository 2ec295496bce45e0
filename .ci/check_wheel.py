"""Fail unless a wheel holds exactly the packages that pyproject.toml lists."""

import sys
import tomllib
import zipfile
from pathlib import Path

settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
expected = set(settings["tool"]["check-wheel-contents"]["toplevel"])

with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()

found = {name.split("/")[0] for name in names if ".dist-info/" not in name}
typed = {name.split("/")[0] for name in names if name.endswith("/py.typed")}
if found != expected or typed != expected:
    sys.exit(f"wheel must hold {expected} but got {found}, of which typed: {typed}")
print("wheel holds", *sorted(found))
