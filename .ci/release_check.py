"""What must hold before a release: make release-check.

The archives build, their metadata and README are what an index accepts, all places name
one version, and each extra of the wheel runs its example of docs/install.md, and `all`
the README, in a fresh environment that has that extra alone.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LIBRARIES = {"numpy", "scipy", "jax", "torch"}
EXTRAS = {
    "": set(),
    "numpy": {"numpy"},
    "scipy": {"numpy", "scipy"},
    "jax": {"numpy", "scipy", "jax"},  # JAX needs SciPy
    "torch": {"numpy", "torch"},
    "compiled": {"numpy"},
    "all": LIBRARIES,
}
RELATIVE = re.compile(r"\]\((?!https?://|#)")


def text(name):
    """Content of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command, **options):
    """Run a command; its failure is ours."""
    subprocess.run(list(map(str, command)), check=True, **options)


def same_version():
    """The version, which all files must name."""
    versions = {
        "pyproject.toml": tomllib.loads(text("pyproject.toml"))["project"]["version"],
        "CITATION.cff": yaml.safe_load(text("CITATION.cff"))["version"],
        "rules_core": re.search(
            r'__version__ = "(.+)"', text("rules_core/__init__.py")
        )[1],
    }
    if len(set(versions.values())) != 1:
        sys.exit(f"versions differ: {versions}")
    version = versions["pyproject.toml"]
    if not re.search(
        rf"^## \[(Unreleased|{re.escape(version)})\]",
        text("CHANGELOG.md"),
        re.MULTILINE,
    ):
        sys.exit(f"CHANGELOG.md has no section for {version}")
    return version


def check_metadata(wheel, version):
    """Name, version, extras, and a README without links that lead nowhere."""
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(path))
    extras = set(metadata.get_all("Provides-Extra"))
    if extras != set(EXTRAS) - {""} or metadata["Version"] != version:
        sys.exit(f"unexpected metadata: {metadata['Version']}, {extras}")
    readme = metadata.get_payload()
    if RELATIVE.search(readme) or len(readme) < 1000:
        sys.exit("the README of the wheel is cut short or has relative links")


def example_of(extra):
    """The part of the pages that an extra must run."""
    if extra == "all":
        return text("README.md")
    name = f"rules-core[{extra}]" if extra else "rules-core"
    section = rf"^### `{re.escape(name)}`.*?(?=^##|\Z)"
    return re.search(section, text("docs/install.md"), re.MULTILINE | re.DOTALL)[0]


def check_extra(extra, wheel, folder):
    """Install one extra into a fresh environment, and run its example there."""
    venv = folder / f"venv-{extra or 'core'}"
    run(sys.executable, "-m", "venv", venv)
    python = venv / "bin" / "python"
    name = f"{wheel}[{extra}]" if extra else wheel
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", name)
    page = folder / f"{extra or 'core'}.md"
    page.write_text(example_of(extra), encoding="utf-8")
    missing = sorted(LIBRARIES - EXTRAS[extra])
    run(python, ROOT / ".ci" / "run_page.py", page, *missing, cwd=folder)
    print(f"the example of {extra or 'the core alone'} runs", flush=True)


def main():
    """Check all extras, or those that are named."""
    if find_spec("twine") is None:
        sys.exit("needs twine: .venv/bin/pip install --group release")
    version = same_version()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run(ROOT / ".ci" / "build_wheel", folder)
        (wheel,) = folder.glob("*.whl")
        run(
            sys.executable,
            "-m",
            "twine",
            "check",
            "--strict",
            *folder.glob("rules_core*"),
        )
        check_metadata(wheel, version)
        for extra in sys.argv[1:] or EXTRAS:
            check_extra("" if extra == "core" else extra, wheel, folder)
    print(f"ready to release {version}")


if __name__ == "__main__":
    main()
