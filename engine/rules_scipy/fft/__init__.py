"""`scipy.fft` for every framework: primitives with the names of its functions.

Transforms are linear; the adjoint of each is another one. Complex cotangents follow the
convention of `rules_core` (`docs/explanation/complex-numbers`). `workers` is passed on
to SciPy; with `overwrite_x` it gets copies, so that no argument is overwritten.

>>> import numpy as np
>>> import rules_core as rc
>>> from rules_scipy import fft
>>> y, pullback = rc.rrule(fft.dct, np.asarray([1.0, 2.0, 4.0]), norm="ortho")
>>> bool(np.allclose(pullback(y)[1], [1.0, 2.0, 4.0]))
True
"""

from ._cosine import (
    dct as dct,
    dctn as dctn,
    dst as dst,
    dstn as dstn,
    idct as idct,
    idctn as idctn,
    idst as idst,
    idstn as idstn,
)
from ._fourier import (
    fft as fft,
    fft2 as fft2,
    fftn as fftn,
    fftshift as fftshift,
    fht as fht,
    hfft as hfft,
    hfft2 as hfft2,
    hfftn as hfftn,
    ifft as ifft,
    ifft2 as ifft2,
    ifftn as ifftn,
    ifftshift as ifftshift,
    ifht as ifht,
    ihfft as ihfft,
    ihfft2 as ihfft2,
    ihfftn as ihfftn,
    irfft as irfft,
    irfft2 as irfft2,
    irfftn as irfftn,
    rfft as rfft,
    rfft2 as rfft2,
    rfftn as rfftn,
)
