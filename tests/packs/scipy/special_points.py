"""Arguments of every function of the pack: ordinary ones, and awkward ones.

A Python int in a tuple is a whole number, which has no derivative.
"""

POINTS: dict[str, list[tuple]] = {}
# Near zeros and edges, large and tiny: for the comparison with mpmath alone.
AWKWARD: dict[str, list[tuple]] = {}


def at(names, *points):
    for name in names.split():
        POINTS.setdefault(name, []).extend(points)


def awkward(names, *points):
    for name in names.split():
        AWKWARD.setdefault(name, []).extend(points)


at(
    "cbrt exp2 exp10 expm1 log1p exprel cosm1 sindg cosdg tandg cotdg entr log_expit "
    "expit gamma gammaln loggamma digamma rgamma erf erfc erfcx erfi dawsn ndtr "
    "log_ndtr wofz fresnel modfresnelp modfresnelm exp1 expi sici shichi spence itj0y0 "
    "iti0k0 it2j0y0 it2i0k0 itstruve0 itmodstruve0 it2struve0 j0 j1 y0 y1 i0 i1 k0 k1 "
    "i0e i1e k0e k1e airy airye ber bei ker kei berp beip kerp keip kelvin wrightomega",
    (0.3,),
    (1.7,),
    (4.5,),
)
at("itairy", (0.3,))
at(
    "cbrt exp2 expm1 exprel cosm1 sindg cosdg tandg log_expit expit gamma gammaln "
    "digamma rgamma erf erfc erfcx dawsn ndtr log_ndtr wofz fresnel airy j0 j1 i0 i1 "
    "i0e i1e shichi sinc softplus",
    (-2.3,),
    (-0.4,),
    (0.8,),
)
at("factorial", (2.5, False, "zero"))
at("erfinv", (0.3,), (-0.8,), (0.9,))
at("erfcinv", (0.3,), (1.5,), (0.01,))
at("ndtri logit ellipk ellipe ellipkm1", (0.3,), (0.9,), (0.02,))
at("ndtri_exp", (-3.0,), (-50.0,), (-0.1,))
at("zetac", (2.5,), (1.2,), (-1.7,), (0.3,), (8.0,))
at("zeta", (2.5, 1.3), (1.2, 0.4), (6.0, 7.0))
at("kolmogorov", (0.4,), (0.9,), (1.3,), (2.0,))
at("kolmogi", (0.3,), (0.9,))
at("powm1 boxcox boxcox1p", (0.3, 1.5), (2.5, -0.7))
at("inv_boxcox inv_boxcox1p", (0.3, 0.5), (0.7, -0.6))
at(
    "rel_entr kl_div xlogy xlog1py huber pseudo_huber agm beta betaln binom poch "
    "elliprc",
    (0.3, 1.5),
    (2.5, 0.7),
)
at("tklmbda", (0.3, 0.5), (-0.7, 0.2), (0.7, -0.3))
at("radian voigt_profile", (0.3, 1.5, 0.7), (2.0, 0.4, 0.1))
at("owens_t", (0.3, 1.5), (2.0, -0.4))
at("diric", (0.3, 5), (2.0, 4))
at(
    "jv yv iv kv ive jve yve kve hankel1 hankel2 hankel1e hankel2e struve modstruve",
    (0.3, 1.5),
    (2.5, 0.7),
    (2.0, 13.0),
    (10.2, 4.0),
)
at("jvp yvp ivp kvp h1vp h2vp", (0.3, 1.5, 1), (2.5, 0.7, 2))
at("jn kn yn expn", (2, 1.5), (1, 4.0), (0, 0.7))
at(
    "spherical_jn spherical_yn spherical_in spherical_kn",
    (0, 1.5, False),
    (1, 4.0, False),
    (3, 0.7, True),
)
at("besselpoly", (0.7, 1.2, 0.5), (2.0, 0.3, 1.0))
at("hyp0f1", (1.5, 0.7), (2.3, -4.0))
at("hyp1f1 hyperu", (0.7, 1.5, 0.7), (1.3, 2.4, 3.0))
at("hyp2f1", (0.7, 1.5, 2.2, 0.3), (0.5, 1.0, 1.7, -3.0))
at("wright_bessel log_wright_bessel", (0.7, 1.5, 0.7), (1.3, 2.4, 3.0))
at("elliprf elliprd elliprg", (0.7, 1.5, 2.2), (0.1, 3.0, 5.0))
at("elliprj", (0.7, 1.5, 2.2, 0.8))
at("ellipkinc ellipeinc", (0.7, 0.5), (4.0, 0.3), (-2.0, -1.5))
at("ellipj", (0.7, 0.5), (4.0, 0.3))
at("lambertw", (1.5, 0, 1e-8), (-0.2, -1, 1e-8))
at("polygamma", (2, 1.7), (1, 0.3))
at("multigammaln", (4.2, 3))
at("lpmv", (1, 2.3, 0.4), (0, 1.5, -0.3))
at("legendre_p legendre_p_all", (3, 0.4), (0, -0.3))
at(
    "assoc_legendre_p assoc_legendre_p_all sph_legendre_p sph_legendre_p_all",
    (3, 1, 0.4),
)
at("sph_harm_y", (3, 1, 0.4, 0.7), (2, -2, 1.4, 2.7))
at("eval_hermite eval_hermitenorm", (3, 0.3), (0, 0.6))
at(
    "eval_legendre eval_chebyt eval_chebyu eval_chebyc eval_chebys eval_laguerre "
    "eval_sh_legendre eval_sh_chebyt eval_sh_chebyu",
    (3, 0.3),
    (0, 0.6),
    (2.4, 0.45),
)
at("eval_gegenbauer eval_genlaguerre", (3, 1.7, 0.3), (0, 1.7, 0.6), (2.4, 1.7, 0.45))
at("assoc_laguerre", (0.3, 3, 1.7))
at("eval_jacobi eval_sh_jacobi", (3, 1.7, 1.2, 0.3), (2.4, 1.7, 1.2, 0.45))
at("gammainc gammaincc gammainc_da", (1.5, 0.7), (3.0, 4.0))
at("gammaincinv gammainccinv", (1.5, 0.7), (3.0, 0.1))
at("betainc betaincc betaincinv betainccinv", (1.5, 0.7, 0.3), (3.0, 2.2, 0.8))
at("betainc_da betainc_db", (1.5, 0.7, 0.3), (3.0, 2.2, 0.8))
at("btdtria", (0.3, 2.0, 0.6))
at("btdtrib", (2.0, 0.3, 0.6))
at("bdtr bdtrc bdtri nbdtr nbdtrc nbdtri", (2, 5, 0.3))
at("bdtrik nbdtrik", (0.6, 5.5, 0.3))
at("bdtrin nbdtrin", (2.3, 0.4, 0.3))
at("pdtr pdtrc", (2, 1.5))
at("pdtri", (2, 0.3))
at("pdtrik", (0.7, 2.5))
at("fdtr fdtrc", (3.0, 4.0, 0.7), (3.0, 4.0, 6.0))
at("fdtri", (3.0, 4.0, 0.7))
at("fdtridfd", (3.0, 0.4, 0.7))
at("stdtr", (3.0, 0.7), (5.0, -2.0))
at("stdtrit", (3.0, 0.7), (3.0, 0.1))
at("stdtridf", (0.72, 0.7))
at("chdtr chdtrc", (3.0, 2.0))
at("chdtri", (3.0, 0.2))
at("chdtriv", (0.3, 2.0))
at("gdtr gdtrc", (1.3, 2.0, 0.7))
at("gdtria", (0.3, 2.0, 0.7))
at("gdtrib gdtrix", (1.3, 0.4, 0.7))
at("nrdtrimn", (0.3, 2.0, 0.5))
at("nrdtrisd", (0.3, 0.7, 1.5))
at("smirnov", (5, 0.3), (20, 0.13))
at("smirnovi", (5, 0.3))
at("mathieu_a mathieu_b", (2, 1.5), (3, 8.0))
at("mathieu_cem mathieu_sem", (2, 1.5, 30.0), (3, 8.0, 100.0))
at(
    "mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2",
    (2, 1.5, 0.7),
)
at("pbdv pbvv", (1.3, 0.7), (0.4, -1.2))
at("pbwa", (1.3, 0.7), (0.4, -1.2))
at("pro_cv obl_cv", (1, 2, 1.5), (0, 1, 3.0))
at("pro_ang1 obl_ang1", (1, 2, 1.5, 0.3))
at("pro_rad1 pro_rad2", (0, 0, 1.5, 1.7), (1, 2, 3.0, 2.0))
at("obl_rad1 obl_rad2", (1, 2, 3.0, 2.0))
at("chndtr", (2.0, 3.0, 1.5), (8.0, 2.0, 4.0))
at("chndtrix", (0.2, 3.0, 1.5))
at("chndtridf", (2.0, 0.4, 1.5))
at("chndtrinc", (2.0, 3.0, 0.3))
at("ncfdtr", (3.0, 4.0, 1.2, 0.8), (2.0, 10.0, 3.0, 2.0))
at("ncfdtri", (3.0, 4.0, 1.2, 0.6))
at("ncfdtridfn", (0.4, 4.0, 1.2, 0.8))
at("ncfdtridfd", (3.0, 0.35, 1.2, 0.8))
at("ncfdtrinc", (3.0, 4.0, 0.35, 0.8))
at("nctdtr", (3.0, 1.2, 0.8), (5.0, -0.5, -1.0))
at("nctdtrit", (3.0, 1.2, 0.6))
at("nctdtridf", (0.3, 1.2, 0.8))
at("nctdtrinc", (3.0, 0.3, 0.8))
at("softmax log_softmax logsumexp", ((0.3, -1.0, 0.4),))


# The characteristic value belongs to m, n and c.
def with_value(point, value):
    return *point[:3], float(value(*point[:3])), *point[3:]


def at_values(name, value):
    at(f"{name}_cv", *(with_value(point, value) for point in POINTS[name]))


def fill():
    import scipy.special

    for kind in ("pro", "obl"):
        for part in ("ang1", "rad1", "rad2"):
            at_values(f"{kind}_{part}", getattr(scipy.special, f"{kind}_cv"))


fill()

awkward("erfcx", (30.0,), (1e4,), (-5.0,), (7.0,), (1e-10,))
awkward("dawsn", (30.0,), (1e4,), (-5.0,), (7.1,), (0.9241388730045918,), (1e-10,))
awkward("erf erfc ndtr", (1e-10,), (5.0,), (-5.0,))
awkward("log_ndtr", (-1e4,), (-40.0,), (7.0,), (1e-10,))
awkward("erfinv", (1e-12,), (1 - 1e-10,))
awkward("erfcinv", (1e-200,), (1e-10,), (1.0,))
awkward("ndtri", (1e-200,), (0.5,), (1 - 1e-10,))
awkward("ndtri_exp", (-1e4,), (-1e-10,))
awkward("exprel", (1e-10,), (-300.0,), (300.0,), (0.0,))
awkward("spence", (1.0,), (1 + 1e-9,), (1e-10,), (100.0,), (0.66,), (1.34,))
awkward("digamma", (1.4616321449683622,), (-0.5040830082644554,), (1e-8,), (1e6,))
awkward("gamma rgamma", (1.4616321449683622,), (-5.5,), (1e-8,), (100.0,))
awkward("rgamma", (0.0,), (-1.0,), (-3.0,), (-2.9999999,))
awkward("gammaln", (1.4616321449683622,), (1e-8,), (1e6,))
awkward(
    "jv", (0.5, 1e-5), (3.0, 1e-3), (0.0, 2.404825557695773), (50.0, 10.0), (1.5, 500.0)
)
awkward(
    "yv", (0.5, 1e-5), (0.0, 0.8935769662791675), (20.0, 10.0), (1.5, 500.0), (2.0, 3.0)
)
awkward("iv", (0.5, 1e-5), (3.0, 1e-3), (50.0, 10.0), (1.5, 300.0))
awkward("kv", (0.5, 1e-5), (3.0, 1e-3), (50.0, 10.0), (1.5, 300.0), (0.0, 1.0))
awkward("ive kve", (0.5, 1e-5), (1.5, 300.0), (0.3, 2e3), (2.0, 49.0))
awkward("i0e i1e k0e k1e", (1e-5,), (300.0,), (2e3,), (39.0,), (41.0,))
awkward("j0", (1e-5,), (2.404825557695773,), (500.0,))
awkward("ellipk ellipe", (0.0,), (1e-10,), (-1e6,), (1 - 1e-10,))
awkward("ellipkm1", (1e-100,), (1e-10,), (1.0,))
awkward("ellipkinc ellipeinc", (1.5707, 0.999), (1e-6, 0.5), (10.0, 0.9))
awkward("elliprf elliprd elliprg", (1e-8, 1.0, 2.0), (1e8, 1.0, 2.0), (1.0, 1.0, 1.0))
awkward("elliprj", (1e-8, 1.0, 2.0, 3.0), (1.0, 1.0, 1.0, 1.0))
awkward("elliprc", (1.0, 1.0), (1.0, 1e8), (1e-8, 1.0))
awkward("boxcox", (2.0, 1e-10), (1e-5, 0.0), (1e5, 1e-3))
awkward("kl_div rel_entr", (1.0, 1.0 + 1e-9), (1e-10, 1.0), (1e10, 1.0))
awkward("pseudo_huber", (1.0, 1e-8), (1e-8, 1.0))
awkward("voigt_profile", (30.0, 1.0, 1e-3), (0.0, 1.0, 1.0), (100.0, 1.0, 1.0))
awkward(
    "gammaincinv gammainccinv", (0.1, 0.5), (50.0, 1e-10), (3.0, 1e-200), (1e3, 0.3)
)
awkward("betaincinv", (0.3, 0.4, 0.5), (50.0, 2.0, 1e-8), (100.0, 100.0, 0.4))
awkward(
    "stdtr", (3.0, 1e-6), (3.0, -50.0), (1e6, 1.0), (1e10, 2.0), (0.1, 1.0), (3e4, -1.0)
)
awkward("stdtrit", (1.0, 1e-6), (1e5, 0.3))
awkward("fdtr", (3.0, 4.0, 1e-6), (3.0, 4.0, 1e6), (200.0, 300.0, 1.1))
awkward("chdtr", (3.0, 1e-6), (200.0, 210.0), (3.0, 50.0))
awkward("zeta", (1.0001, 1.0), (30.0, 1.0), (2.0, 1e4), (0.5 + 1, 1e-3))
awkward("zetac", (1.0001,), (30.0,), (-10.5,), (0.0,), (-2.0,))
awkward("lambertw", (-0.367, 0, 1e-8), (0.0, 0, 1e-8), (1e10, 0, 1e-8))
awkward("wrightomega", (-50.0,), (1e10,))
awkward("airye", (100.0,), (1e5,), (24.0,), (26.0,))
awkward("expn", (3, 1e-3), (10, 30.0), (0, 1e-3))
awkward(
    "spherical_jn",
    (0, 1e-6, False),
    (5, 0.1, False),
    (2, 0.0, False),
    (2, 100.0, False),
)
awkward(
    "hyp1f1", (0.7, 1.5, -30.0), (0.7, 1.5, 50.0), (2.0, 0.1, 1.0), (-2.5, 3.0, 4.0)
)
awkward("hyp2f1", (0.7, 1.5, 2.2, 0.95), (0.7, 1.5, 2.2, -20.0), (1.0, 1.0, 2.0, 1e-2))
awkward("agm", (1.0, 1.0), (1e-10, 1.0), (1e5, 1.0))
awkward("owens_t", (1e-6, 2.0), (5.0, 0.5), (1.0, 1e-8), (1.0, 50.0))
awkward(
    "nctdtr", (3.0, 1.0, 0.0), (20.0, 3.0, 10.0), (0.5, 1.0, 2.0), (50.0, -2.0, 1.0)
)
awkward("chndtr", (1e-3, 3.0, 1.5), (100.0, 3.0, 50.0), (8.0, 0.5, 4.0))
awkward("ncfdtr", (3.0, 4.0, 1.2, 1e-4), (3.0, 4.0, 30.0, 5.0))
awkward("kolmogorov", (0.2,), (4.0,))
awkward("tklmbda", (0.0, 0.5), (-1.9, 0.5), (30.0, -0.1))
awkward("eval_legendre", (10, 0.99), (3, 1.0), (2.4, -0.9))
awkward("eval_chebyt", (10, 0.99), (3, 1.0), (2.4, -0.9))
awkward("ber bei", (1e-3,), (10.0,), (0.0,))
awkward("struve modstruve", (1.0, 1e-4), (0.5, 20.0), (-0.5, 2.0))
awkward("fresnel sici shichi", (1e-6,), (10.0,))
awkward("it2j0y0 it2i0k0", (1e-3,), (1.99,), (2.01,))
