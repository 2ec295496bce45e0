"""The shape of the distribution: what it installs, exports and imports."""

import importlib
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = [
    ROOT / folder
    for folder in SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
]
PACKAGES = [folder.name for folder in FOLDERS]
HOST_OF = {"rules_jax": "jax", "rules_torch": "torch", "rules_scipy": "scipy"}
NOT_IMPORTED = ("numpy", "scipy", "jax", "jaxlib", "torch", "optree")

LONGEST_FILE = 500
MOST_MILLISECONDS = 60
# A shared machine is slow at times: what is refused here is a library imported by
# mistake (numpy alone costs more). The figures are those of benchmarks/import_time.py.
ALLOWANCE = 3
# As text: to parse all files takes seconds.
STAR = re.compile(r"^\s*from\s+\S+\s+import\s+\(?\s*\*", re.MULTILINE)


def front_door(package: str) -> ModuleType:
    if package in HOST_OF:
        pytest.importorskip(HOST_OF[package])
    return importlib.import_module(package)


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))


def test_wheel_holds_the_packages_and_nothing_else(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == set(PACKAGES)
    assert {f"{name}/py.typed" for name in PACKAGES} <= set(names)


def test_lists_of_packages_agree():
    tool = SETTINGS["tool"]
    assert tool["check-wheel-contents"]["toplevel"] == PACKAGES
    assert tool["coverage"]["run"]["source_pkgs"] == PACKAGES
    assert tool["importlinter"]["root_packages"] == PACKAGES
    assert {path.parent for path in ROOT.glob("*/rules_*/__init__.py")} | {
        ROOT / "rules_core"
    } == set(FOLDERS)


@pytest.mark.parametrize("group", ["rules_core.packs", "rules_core.adapters"])
def test_entry_points_are_installed_as_declared(group):
    declared = SETTINGS["project"]["entry-points"][group]
    installed = {
        entry.name: entry.value
        for entry in metadata.distribution("rules-core").entry_points
        if entry.group == group
    }
    assert installed == declared


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists_once(package):
    module = front_door(package)
    assert len(set(module.__all__)) == len(module.__all__)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_exported(package):
    module = front_door(package)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert public - set(module.__all__) == set()


def test_public_names_call_the_front_door_their_home():
    package = "rules_core"
    module = front_door(package)
    strangers = {
        name: value.__module__
        for name in module.__all__
        if isinstance(getattr(value := getattr(module, name), "__module__", None), str)
        and value.__module__.startswith(f"{package}._")
    }
    assert strangers == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_exported_functions_and_classes_are_documented(package):
    module = front_door(package)
    bare = [
        name
        for name in module.__all__
        if callable(value := getattr(module, name)) and not value.__doc__
    ]
    assert bare == []


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    assert long == {}


def test_no_star_imports():
    stars = [
        str(path.relative_to(ROOT))
        for path in sources()
        if STAR.search(path.read_text(encoding="utf-8"))
    ]
    assert stars == []


def test_importing_the_core_imports_no_array_library():
    code = (
        "import sys, rules_core\n"
        f"print(*[name for name in {NOT_IMPORTED!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []


def test_importing_the_core_is_quick():
    code = (
        "import time; t = time.process_time(); import rules_core; "
        "print(time.process_time() - t)"
    )
    times = [
        float(subprocess.check_output([sys.executable, "-c", code], text=True))
        for _ in range(5)
    ]
    assert min(times) * 1e3 < ALLOWANCE * MOST_MILLISECONDS


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    ("package", "foreign"),
    [("rules_jax", "torch"), ("rules_torch", "jax"), ("rules_scipy", "jax")],
)
def test_a_host_brings_no_other_host(package, foreign):
    front_door(package)
    code = f"import sys, {package}; print({foreign!r} in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "False"


def test_the_reference_lists_every_name_of_the_core():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    listed = re.findall(
        r"^\.\. auto(?:function|class|exception|data):: (\w+)$",
        "\n".join(page.read_text(encoding="utf-8") for page in pages),
        flags=re.MULTILINE,
    )
    assert sorted(listed) == sorted(front_door("rules_core").__all__)


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_the_reference_has_a_page_for_every_package(package):
    page = ROOT / "docs" / "reference" / f"package-{package}.md"
    assert f".. automodule:: {package}\n   :members:" in page.read_text(
        encoding="utf-8"
    )
