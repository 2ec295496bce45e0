"""The public packages whose functions are differentiated, none of them chosen for it.

Small, of pure Python, resting on NumPy and SciPy at most. What is called of them is
found by introspection (`discovery.py`); nothing here names a function, but for what
a package asks its users to call first.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version

# The name on the package index, and the module that it installs.
PACKAGES = {
    "HydroErr": "HydroErr",
    "PsychroLib": "psychrolib",
    "ahrs": "ahrs",
    "ambiance": "ambiance",
    "blackscholes": "blackscholes",
    "coloraide": "coloraide",
    "colorspacious": "colorspacious",
    "filterpy": "filterpy",
    "fluids": "fluids",
    "haversine": "haversine",
    "ht": "ht",
    "iapws": "iapws",
    "meteocalc": "meteocalc",
    "NavPy": "navpy",
    "numpy-financial": "numpy_financial",
    "permetrics": "permetrics",
    "pymap3d": "pymap3d",
    "pyquaternion": "pyquaternion",
    "pysolar": "pysolar",
    "scikit-aero": "skaero",
    "seawater": "seawater",
    "similaritymeasures": "similaritymeasures",
    "solarpy": "solarpy",
    "thermofeel": "thermofeel",
    "transforms3d": "transforms3d",
    "utm": "utm",
}


def missing() -> list[str]:
    """The packages that are not installed here."""
    return [name for name in PACKAGES if not installed(name)]


def installed(name: str) -> str | None:
    """The version of a package here; None without it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def prepare(name: str) -> None:
    """Call what a package asks its users to call before anything else."""
    if name == "PsychroLib":
        psychrolib = importlib.import_module("psychrolib")
        psychrolib.SetUnitSystem(psychrolib.SI)
