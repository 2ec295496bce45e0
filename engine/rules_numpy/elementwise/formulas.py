"""The ufuncs whose partials are formulas."""

from __future__ import annotations

import numpy as np

from rules_numpy._declare.elementwise import choose, elementwise
from rules_numpy._declare.partials_in_hosts import IN_HOSTS
from rules_numpy.formulas import FORMULAS, in_framework

__all__: list[str] = []

for _name, _formula in FORMULAS.items():
    _ufunc = getattr(np, _name, None)
    if _ufunc is None:
        continue
    if _formula.functions and _formula.runs_in_frameworks:
        IN_HOSTS[_ufunc] = in_framework(_formula)
    elementwise(
        _ufunc,
        holomorphic=_formula.holomorphic,
        real_valued=_formula.real_valued,
        generic=not _formula.functions,
    )(_formula.partials)
for _name in ("remainder", "fmod", "maximum", "minimum", "fmax", "fmin"):
    choose(getattr(np, _name), FORMULAS[_name].partials)
