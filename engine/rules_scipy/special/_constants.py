"""Functions without derivative: zeros, nodes, numbers of combinatorics."""

from __future__ import annotations

import scipy.special

from ._declare import constant

__all__: list[str] = []

_NAMES = """
ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros kei_zeros keip_zeros
ker_zeros kerp_zeros kelvin_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros
jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
bernoulli euler stirling2
roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite roots_hermitenorm
roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre
geterr seterr gammasgn round
"""

constant(*(getattr(scipy.special, name) for name in _NAMES.split()))
