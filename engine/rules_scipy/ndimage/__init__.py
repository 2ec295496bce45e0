"""`scipy.ndimage` for every framework: primitives with the names of its functions.

Derivatives are exact at the borders in every mode, and also those in weights, widths,
places and the value of constant borders. `rules_scipy.ndimage.coverage` lists the
functions, and those without rules with the reason.

>>> import numpy as np
>>> import rules_core as rc
>>> from rules_scipy import ndimage
>>> x = np.asarray([1.0, 2.0, 4.0])
>>> y, pullback = rc.rrule(ndimage.correlate1d, x, np.asarray([1.0, 1.0, 1.0]))
>>> y, pullback(np.asarray([1.0, 0.0, 0.0]))[1]
(array([ 4.,  7., 10.]), array([2., 1., 0.]))
"""

from ._fourier import (
    fourier_ellipsoid as fourier_ellipsoid,
    fourier_gaussian as fourier_gaussian,
    fourier_shift as fourier_shift,
    fourier_uniform as fourier_uniform,
)
from ._gaussian import (
    gaussian_filter as gaussian_filter,
    gaussian_filter1d as gaussian_filter1d,
    gaussian_gradient_magnitude as gaussian_gradient_magnitude,
    gaussian_laplace as gaussian_laplace,
)
from ._geometry import (
    affine_transform as affine_transform,
    geometric_transform as geometric_transform,
    map_coordinates as map_coordinates,
    rotate as rotate,
    shift as shift,
    zoom as zoom,
)
from ._linear import (
    convolve as convolve,
    convolve1d as convolve1d,
    correlate as correlate,
    correlate1d as correlate1d,
    laplace as laplace,
    prewitt as prewitt,
    sobel as sobel,
    uniform_filter as uniform_filter,
    uniform_filter1d as uniform_filter1d,
)
from ._measurements import (
    center_of_mass as center_of_mass,
    extrema as extrema,
    maximum as maximum,
    mean as mean,
    median as median,
    minimum as minimum,
    standard_deviation as standard_deviation,
    sum as sum,  # noqa: A004  SciPy's name
    sum_labels as sum_labels,
    variance as variance,
)
from ._selection import (
    black_tophat as black_tophat,
    grey_closing as grey_closing,
    grey_dilation as grey_dilation,
    grey_erosion as grey_erosion,
    grey_opening as grey_opening,
    maximum_filter as maximum_filter,
    maximum_filter1d as maximum_filter1d,
    median_filter as median_filter,
    minimum_filter as minimum_filter,
    minimum_filter1d as minimum_filter1d,
    morphological_gradient as morphological_gradient,
    morphological_laplace as morphological_laplace,
    percentile_filter as percentile_filter,
    rank_filter as rank_filter,
    white_tophat as white_tophat,
)
from ._splines import (
    spline_filter as spline_filter,
    spline_filter1d as spline_filter1d,
)
