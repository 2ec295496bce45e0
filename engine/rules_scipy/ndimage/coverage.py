"""Coverage of `scipy.ndimage`, and its page in the reference.

`python -m rules_scipy.ndimage.coverage` prints docs/reference/scipy-ndimage.md.
"""

from __future__ import annotations

import sys

import scipy.ndimage

from rules_scipy._module_coverage import ModuleCoverage
from rules_scipy._steps import DECLARED

__all__ = ["COVERAGE"]

_HEAD = """# The SciPy pack: images

<!-- Made by `python -m rules_scipy.ndimage.coverage`; do not edit. -->

Of the {total} public functions of `scipy.ndimage`, {covered} have rules, {constant}
have no derivative, and {missing} have no rule, for the reason below.
`rules_scipy.ndimage` contains them as primitives for NumPy, JAX and PyTorch:

```python
>>> import jax, numpy as np
>>> from rules_scipy import ndimage
>>> image = np.asarray([[0.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 0.0]], np.float32)
>>> def peak(move):
...     return ndimage.shift(image, move, mode="nearest")[1, 1]
>>> at = np.asarray([0.25, 0.0], np.float32)
>>> bool(jax.jit(jax.grad(peak))(at)[0] < 0)
True
```

SciPy computes the values in every framework. Axes, modes, sizes, origins and orders are
constants; `output` may be a dtype, and an array given as `output` raises an error where
a derivative is wanted. Derivatives have every order.

| functions | derivatives in |
|---|---|
| `convolve`, `correlate`, and along one axis | the image, the weights, `cval` |
| means, `sobel`, `prewitt`, `laplace` | the image, `cval` |
| Gaussian filters | the image, `sigma`, `cval` |
| `map_coordinates` | the image, the coordinates, `cval` |
| `affine_transform` | the image, `matrix`, `offset`, `cval` |
| `shift`, `rotate` | the image, the shift or the angle, `cval` |
| `zoom`, `geometric_transform` | the image, `cval` |
| ranks, extrema, grey morphology | the image, `structure`, `cval` |
| measurements | the image; labels and index are constant |
| filters of spectra | the spectrum; `sigma`, `shift`, `size` of `fourier_uniform` |

The radius at which SciPy cuts a Gaussian off is constant; where `sigma` is traced
(`jax.jit`, `torch.compile`), give it as `radius`. The factor of `zoom` matters only
through the shape of the result.

## At borders and kinks

* Linear filters have the exact adjoint at the borders, in every mode.
* A spline of order *n* has *n* − 1 continuous derivatives in the places. The next one,
  as the first of order 1, is that of the piece that begins at a knot; at the last
  sample of an axis it is that of the piece inside. Order 0 has derivative zero.
* A place that `mirror` or `reflect` turns back into the image moves backwards. A place
  outside the image has derivative zero in mode `constant`, and the jump at the border
  is not seen; `grid-constant` has none.
* Filters that select an entry (ranks, extrema, grey morphology, and `minimum`,
  `maximum` and `median` of parts) share among equal entries
  ([](../explanation/conventions-at-kinks.md)). Each appearance of an entry in a window
  counts, as where a border repeats it.
* `gaussian_gradient_magnitude` and `standard_deviation` have derivative zero where they
  are zero.

## Functions with rules
"""

_YOURS = (
    "calls a function of yours at every place: write the filter with correlate or "
    "map_coordinates, or with the framework's own operations"
)
_DISTANCES = "measures a binary image: compute it outside, as a constant"

COVERAGE = ModuleCoverage(
    scipy.ndimage,
    DECLARED,
    {
        "distance_transform_bf": _DISTANCES,
        "distance_transform_edt": _DISTANCES,
        "generic_filter": _YOURS,
        "generic_filter1d": _YOURS,
        "generic_gradient_magnitude": "calls a filter of yours: add the squares of its "
        "results along the axes",
        "generic_laplace": "calls a filter of yours: add its results along the axes",
        "labeled_comprehension": "calls a function of yours for every part: use "
        "sum_labels, mean, minimum, maximum or median",
        "vectorized_filter": _YOURS,
    },
    _HEAD,
    "Binary images, labels, places and counts.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
