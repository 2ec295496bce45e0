"""Special functions of `scipy.special` as primitives with rules.

Every function has the name that it has in SciPy. `rules_scipy.coverage` lists them, and
those without rules with the reason. The derivatives of the incomplete functions in
their parameters are public as well: `gammainc_da`, `betainc_da`, `betainc_db`.
"""

import scipy.special

from . import (
    _bessel,
    _bessel_derivatives,
    _constants as _constants,
    _distributions,
    _elementary,
    _elliptic,
    _error_functions,
    _gamma,
    _hypergeometric,
    _incomplete_beta,
    _incomplete_gamma,
    _information,
    _integrals,
    _kolmogorov,
    _lambert,
    _legendre,
    _logarithms,
    _logsumexp,
    _mathieu,
    _noncentral,
    _orthogonal,
    _parabolic,
    _scaled_bessel,
    _softmax,
    _spherical,
    _spheroidal,
    _struve,
    _zeta,
)
from ._bessel import (
    airy as airy,
    hankel1 as hankel1,
    hankel2 as hankel2,
    i0 as i0,
    i1 as i1,
    iv as iv,
    j0 as j0,
    j1 as j1,
    jn as jn,
    jv as jv,
    k0 as k0,
    k1 as k1,
    kn as kn,
    kv as kv,
    y0 as y0,
    y1 as y1,
    yn as yn,
    yv as yv,
)
from ._bessel_derivatives import (
    h1vp as h1vp,
    h2vp as h2vp,
    ivp as ivp,
    jvp as jvp,
    kvp as kvp,
    yvp as yvp,
)
from ._distributions import (
    bdtr as bdtr,
    bdtrc as bdtrc,
    bdtri as bdtri,
    bdtrik as bdtrik,
    bdtrin as bdtrin,
    chdtr as chdtr,
    chdtrc as chdtrc,
    chdtri as chdtri,
    chdtriv as chdtriv,
    fdtr as fdtr,
    fdtrc as fdtrc,
    fdtri as fdtri,
    fdtridfd as fdtridfd,
    gdtr as gdtr,
    gdtrc as gdtrc,
    gdtria as gdtria,
    gdtrib as gdtrib,
    gdtrix as gdtrix,
    nbdtr as nbdtr,
    nbdtrc as nbdtrc,
    nbdtri as nbdtri,
    nbdtrik as nbdtrik,
    nbdtrin as nbdtrin,
    nrdtrimn as nrdtrimn,
    nrdtrisd as nrdtrisd,
    pdtr as pdtr,
    pdtrc as pdtrc,
    pdtri as pdtri,
    pdtrik as pdtrik,
    stdtr as stdtr,
    stdtridf as stdtridf,
    stdtrit as stdtrit,
)
from ._elementary import (
    cbrt as cbrt,
    cosdg as cosdg,
    cosm1 as cosm1,
    cotdg as cotdg,
    diric as diric,
    exp2 as exp2,
    exp10 as exp10,
    expm1 as expm1,
    exprel as exprel,
    log1p as log1p,
    powm1 as powm1,
    radian as radian,
    sinc as sinc,
    sindg as sindg,
    tandg as tandg,
)
from ._elliptic import (
    agm as agm,
    ellipe as ellipe,
    ellipeinc as ellipeinc,
    ellipj as ellipj,
    ellipk as ellipk,
    ellipkinc as ellipkinc,
    ellipkm1 as ellipkm1,
    elliprc as elliprc,
    elliprd as elliprd,
    elliprf as elliprf,
    elliprg as elliprg,
    elliprj as elliprj,
)
from ._error_functions import (
    dawsn as dawsn,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfcx as erfcx,
    erfi as erfi,
    erfinv as erfinv,
    fresnel as fresnel,
    log_ndtr as log_ndtr,
    modfresnelm as modfresnelm,
    modfresnelp as modfresnelp,
    ndtr as ndtr,
    ndtri as ndtri,
    ndtri_exp as ndtri_exp,
    owens_t as owens_t,
    voigt_profile as voigt_profile,
    wofz as wofz,
)
from ._gamma import (
    beta as beta,
    betaln as betaln,
    binom as binom,
    digamma as digamma,
    factorial as factorial,
    gamma as gamma,
    gammaln as gammaln,
    loggamma as loggamma,
    multigammaln as multigammaln,
    poch as poch,
    polygamma as polygamma,
    psi as psi,
    rgamma as rgamma,
)
from ._hypergeometric import (
    hyp0f1 as hyp0f1,
    hyp1f1 as hyp1f1,
    hyp2f1 as hyp2f1,
    hyperu as hyperu,
    log_wright_bessel as log_wright_bessel,
    wright_bessel as wright_bessel,
)
from ._incomplete_beta import (
    betainc as betainc,
    betainc_da as betainc_da,
    betainc_db as betainc_db,
    betaincc as betaincc,
    betainccinv as betainccinv,
    betaincinv as betaincinv,
    btdtria as btdtria,
    btdtrib as btdtrib,
)
from ._incomplete_gamma import (
    gammainc as gammainc,
    gammainc_da as gammainc_da,
    gammaincc as gammaincc,
    gammainccinv as gammainccinv,
    gammaincinv as gammaincinv,
)
from ._information import (
    boxcox as boxcox,
    boxcox1p as boxcox1p,
    entr as entr,
    huber as huber,
    inv_boxcox as inv_boxcox,
    inv_boxcox1p as inv_boxcox1p,
    kl_div as kl_div,
    log_expit as log_expit,
    pseudo_huber as pseudo_huber,
    rel_entr as rel_entr,
    tklmbda as tklmbda,
)
from ._integrals import (
    besselpoly as besselpoly,
    exp1 as exp1,
    expi as expi,
    expn as expn,
    it2i0k0 as it2i0k0,
    it2j0y0 as it2j0y0,
    it2struve0 as it2struve0,
    itairy as itairy,
    iti0k0 as iti0k0,
    itj0y0 as itj0y0,
    itmodstruve0 as itmodstruve0,
    itstruve0 as itstruve0,
    shichi as shichi,
    sici as sici,
    spence as spence,
)
from ._kolmogorov import (
    kolmogi as kolmogi,
    kolmogorov as kolmogorov,
    smirnov as smirnov,
    smirnovi as smirnovi,
)
from ._lambert import (
    lambertw as lambertw,
    wrightomega as wrightomega,
)
from ._legendre import (
    lpmv as lpmv,
)
from ._logarithms import (
    expit as expit,
    logit as logit,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from ._logsumexp import (
    logsumexp as logsumexp,
)
from ._mathieu import (
    mathieu_a as mathieu_a,
    mathieu_b as mathieu_b,
    mathieu_cem as mathieu_cem,
    mathieu_modcem1 as mathieu_modcem1,
    mathieu_modcem2 as mathieu_modcem2,
    mathieu_modsem1 as mathieu_modsem1,
    mathieu_modsem2 as mathieu_modsem2,
    mathieu_sem as mathieu_sem,
)
from ._noncentral import (
    chndtr as chndtr,
    chndtridf as chndtridf,
    chndtrinc as chndtrinc,
    chndtrix as chndtrix,
    ncfdtr as ncfdtr,
    ncfdtri as ncfdtri,
    ncfdtridfd as ncfdtridfd,
    ncfdtridfn as ncfdtridfn,
    ncfdtrinc as ncfdtrinc,
    nctdtr as nctdtr,
    nctdtridf as nctdtridf,
    nctdtrinc as nctdtrinc,
    nctdtrit as nctdtrit,
)
from ._orthogonal import (
    assoc_laguerre as assoc_laguerre,
    eval_chebyc as eval_chebyc,
    eval_chebys as eval_chebys,
    eval_chebyt as eval_chebyt,
    eval_chebyu as eval_chebyu,
    eval_gegenbauer as eval_gegenbauer,
    eval_genlaguerre as eval_genlaguerre,
    eval_hermite as eval_hermite,
    eval_hermitenorm as eval_hermitenorm,
    eval_jacobi as eval_jacobi,
    eval_laguerre as eval_laguerre,
    eval_legendre as eval_legendre,
    eval_sh_chebyt as eval_sh_chebyt,
    eval_sh_chebyu as eval_sh_chebyu,
    eval_sh_jacobi as eval_sh_jacobi,
    eval_sh_legendre as eval_sh_legendre,
)
from ._parabolic import (
    pbdv as pbdv,
    pbvv as pbvv,
    pbwa as pbwa,
)
from ._scaled_bessel import (
    airye as airye,
    hankel1e as hankel1e,
    hankel2e as hankel2e,
    i0e as i0e,
    i1e as i1e,
    ive as ive,
    jve as jve,
    k0e as k0e,
    k1e as k1e,
    kve as kve,
    yve as yve,
)
from ._softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from ._spherical import (
    spherical_in as spherical_in,
    spherical_jn as spherical_jn,
    spherical_kn as spherical_kn,
    spherical_yn as spherical_yn,
)
from ._spheroidal import (
    obl_ang1 as obl_ang1,
    obl_ang1_cv as obl_ang1_cv,
    obl_cv as obl_cv,
    obl_rad1 as obl_rad1,
    obl_rad1_cv as obl_rad1_cv,
    obl_rad2 as obl_rad2,
    obl_rad2_cv as obl_rad2_cv,
    pro_ang1 as pro_ang1,
    pro_ang1_cv as pro_ang1_cv,
    pro_cv as pro_cv,
    pro_rad1 as pro_rad1,
    pro_rad1_cv as pro_rad1_cv,
    pro_rad2 as pro_rad2,
    pro_rad2_cv as pro_rad2_cv,
)
from ._struve import (
    bei as bei,
    beip as beip,
    ber as ber,
    berp as berp,
    kei as kei,
    keip as keip,
    kelvin as kelvin,
    ker as ker,
    kerp as kerp,
    modstruve as modstruve,
    struve as struve,
)
from ._zeta import (
    zeta as zeta,
    zetac as zetac,
)

if hasattr(scipy.special, "sph_harm_y"):  # since SciPy 1.15
    from ._legendre import (
        assoc_legendre_p as assoc_legendre_p,
        assoc_legendre_p_all as assoc_legendre_p_all,
        legendre_p as legendre_p,
        legendre_p_all as legendre_p_all,
        sph_harm_y as sph_harm_y,
        sph_legendre_p as sph_legendre_p,
        sph_legendre_p_all as sph_legendre_p_all,
    )

if hasattr(scipy.special, "softplus"):  # since SciPy 1.17
    from ._information import (
        softplus as softplus,
    )

__all__: list[str] = []
__all__ += _bessel.__all__
__all__ += _bessel_derivatives.__all__
__all__ += _distributions.__all__
__all__ += _elementary.__all__
__all__ += _elliptic.__all__
__all__ += _error_functions.__all__
__all__ += _gamma.__all__
__all__ += _hypergeometric.__all__
__all__ += _incomplete_beta.__all__
__all__ += _incomplete_gamma.__all__
__all__ += _information.__all__
__all__ += _integrals.__all__
__all__ += _kolmogorov.__all__
__all__ += _lambert.__all__
__all__ += _legendre.__all__
__all__ += _logarithms.__all__
__all__ += _logsumexp.__all__
__all__ += _mathieu.__all__
__all__ += _noncentral.__all__
__all__ += _orthogonal.__all__
__all__ += _parabolic.__all__
__all__ += _scaled_bessel.__all__
__all__ += _softmax.__all__
__all__ += _spherical.__all__
__all__ += _spheroidal.__all__
__all__ += _struve.__all__
__all__ += _zeta.__all__
