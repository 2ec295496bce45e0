"""Coverage of `scipy.fft`; `python -m rules_scipy.fft.coverage` prints its page."""

from __future__ import annotations

import sys

import scipy.fft

from rules_scipy._module_coverage import ModuleCoverage
from rules_scipy._steps import DECLARED

__all__ = ["COVERAGE"]

_HEAD = """# The SciPy pack: Fourier transforms

<!-- Made by `python -m rules_scipy.fft.coverage`; do not edit. -->

Of the {total} public functions of `scipy.fft`, {covered} have rules, {constant} have no
derivative, and {missing} have no rule, for the reason below. `rules_scipy.fft` contains
them as primitives for NumPy, JAX and PyTorch:

```python
>>> import jax, numpy as np
>>> from rules_scipy import fft
>>> smooth = lambda x: (fft.dct(x, norm="ortho")[2:] ** 2).sum()
>>> jax.jit(jax.grad(smooth))(np.asarray([1.0, 2.0, 4.0, 3.0], np.float32)).shape
(4,)
```

Each is linear, and the adjoint of each is another one: `fft` and `ifft`, `dct` of type
2 and of type 3, with the weights that `norm`, `orthogonalize` and a change of length
imply. SciPy computes them in every framework, so that values are SciPy's;
`jax.numpy.fft` and `torch.fft` are faster inside of compiled code. Lengths, axes and
types are constants. `orthogonalize` has no effect on complex arrays in SciPy 1.17, and
none here.

## Functions with rules
"""

COVERAGE = ModuleCoverage(
    scipy.fft,
    DECLARED,
    {
        "fftfreq": "is a grid divided by the spacing: divide fftfreq(n) by it",
        "rfftfreq": "is a grid divided by the spacing: divide rfftfreq(n) by it",
        "fhtoffset": "chooses the grid of fht: compute it once, as a constant",
    },
    _HEAD,
    "Lengths, and settings of the backend.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
