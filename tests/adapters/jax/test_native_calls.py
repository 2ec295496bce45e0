"""Native calls of host functions: as from NumPy bit for bit, and never by callback."""

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import threading
from collections import namedtuple
from contextlib import suppress
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import scipy.special

import hatch_build
import rules_core as rc
from rules_core import ShapeDtype
from rules_core.testing import check_rule
from rules_jax._host import call as host_calls
from rules_jax._host.native import available
from rules_jax._host.native.library import register
from rules_jax._host.native.native_call import _loop, native_call
from rules_jax._host.native.ufunc_loops import loop_of_ufunc
from rules_scipy import special
from tests.adapters.jax.devices import DEVICES, ROOT
from tests.adapters.jax.native_loops import LOOPS, SHAPES, arrays, same_bits

pytestmark = pytest.mark.skipif(
    hatch_build.compiler() is None, reason="installed without a C compiler"
)

X = np.linspace(0.3, 4.0, 5)


@pytest.fixture
def only_native(monkeypatch):
    """A call by callback fails when it is compiled."""

    def refuse(host, *_):
        raise AssertionError(host.name)

    monkeypatch.setattr(host_calls, "_callback", refuse)


def agree(found, want):
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True)
    return all(same_bits(a, b) for a, b in pairs)


PARTS = 20


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize(
    ("part", "shape"),
    [
        pytest.param(k, name, marks=[] if k == 4 * i else [pytest.mark.full])
        for k in range(PARTS)
        for i, name in enumerate(SHAPES)
    ],
)
def test_loops_bit_for_bit(part, shape):
    """1,200 loops, one twentieth of them in a compiled program."""
    calls = [(u, arrays(dtypes, SHAPES[shape])) for u, dtypes in LOOPS[part::PARTS]]
    with np.errstate(all="ignore"):
        wants = [u(*xs) for u, xs in calls]
    given = [[jnp.asarray(x) for x in xs] for _, xs in calls]
    native = [
        native_call(
            u,
            u.__name__,
            range(u.nin),
            [jax.typeof(x) for x in xs],
            [jax.typeof(jnp.asarray(y)) for y in jax.tree.leaves(want)],
            None,
            (),
        )
        for (u, _), xs, want in zip(calls, given, wants, strict=True)
    ]
    found = jax.jit(
        lambda all_xs: [f(xs) for f, xs in zip(native, all_xs, strict=True)]
    )(given)
    triples = zip(calls, found, wants, strict=True)
    assert [u.__name__ for (u, _), y, want in triples if not agree(y, want)] == []


kv = special.kv
TRANSFORMED = {
    "jit": (lambda f: f, lambda x: scipy.special.kv(1.5, x)),
    "vmap": (jax.vmap, lambda x: scipy.special.kv(1.5, x)),
    "vmap twice": (
        lambda f: lambda x: jax.vmap(jax.vmap(f))(jnp.stack([x, 2 * x])),
        lambda x: scipy.special.kv(1.5, np.stack([x, 2 * x])),
    ),
    "grad": (
        lambda f: jax.grad(lambda x: f(x).sum()),
        lambda x: scipy.special.kvp(1.5, x),
    ),
    "vmap of grad": (
        lambda f: jax.vmap(jax.grad(f)),
        lambda x: scipy.special.kvp(1.5, x),
    ),
    "scan": (
        lambda f: lambda x: jax.lax.scan(lambda c, y: (c, f(y)), 0.0, x)[1],
        lambda x: scipy.special.kv(1.5, x),
    ),
    "remat": (
        lambda f: jax.grad(lambda x: jax.checkpoint(f)(x).sum()),
        lambda x: scipy.special.kvp(1.5, x),
    ),
    "hessian": (
        lambda f: lambda x: jax.vmap(jax.hessian(f))(x),
        lambda x: scipy.special.kvp(1.5, x, 2),
    ),
}


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations(name):
    transform, reference = TRANSFORMED[name]
    f = transform(lambda x: kv(1.5, x))
    np.testing.assert_allclose(jax.jit(f)(X), reference(X), rtol=1e-13)


@pytest.mark.usefixtures("only_native")
def test_ahead_of_time_and_donated():
    f = jax.jit(lambda x: kv(0, x) + x, donate_argnums=0)
    ready = f.lower(jax.ShapeDtypeStruct((5,), np.float64)).compile()
    for run in (ready, f):
        assert same_bits(run(jnp.asarray(X)), scipy.special.kv(0, X) + X)


@pytest.mark.usefixtures("only_native")
def test_dtypes_are_chosen_as_numpy_chooses_them():
    narrow, orders = X.astype(np.float32), np.arange(5)
    for args in [(1, narrow), (1.5, narrow), (orders, X), (np.int8(2), narrow)]:
        want = scipy.special.jv(*args)
        call = jax.jit(lambda x, n=args[0]: special.jv(n, x))
        if isinstance(args[0], np.ndarray):
            call = jax.jit(lambda x, n=args[0]: special.jv(jnp.asarray(n), x))
        assert same_bits(call(args[1]), want), args


def test_integers_of_python_adapt_as_in_numpy():
    for ufunc, x, n in (
        (np.add, np.int32([1, 2]), -1),
        (np.multiply, np.float32([1, 2]), 2),
        (np.bitwise_and, np.uint64([5, 2]), 3),
        (np.power, np.int8([1, 2]), 2),
        (np.true_divide, np.int32([1, 2]), 2),
        (np.ldexp, np.float32([1, 2]), 3),
        (np.add, np.complex64([1, 2]), 3),
        (np.logical_or, X > 1, 2),
        (np.add, X, True),
    ):
        f = rc.primitive(ufunc, host=True)
        want = ufunc(x, n)
        for call in (f, jax.jit(f), jax.jit(f, static_argnums=1)):
            assert same_bits(call(x, n), want), ufunc


def test_threads_share_loops_that_start_none():
    vectorize = pytest.importorskip("numba").vectorize
    own = vectorize(["f8(f8)"])(lambda x: x + 1)
    several = vectorize(["f8(f8)"], target="parallel")(lambda x: x + 1)
    double = (np.dtype(float),)
    assert native_call_loop(own, double).splits
    assert native_call_loop(np.exp, double).splits
    assert native_call_loop(scipy.special.expit, double).splits
    assert not native_call_loop(several, double).splits


def native_call_loop(ufunc, given):
    return _loop(ufunc, "f", given, available.library())


# No rule fits such a call, which is said first.
@pytest.mark.filterwarnings("ignore::rules_core.RuleSkippedWarning")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: special.kv(0.3, x, dtype=np.float32), "for calls with dtype"),
        (lambda x: special.kv(v=0.3, z=x), "for calls with v, z"),
        (lambda x: special.expit(x, where=x > 1), "for calls with where"),
        (lambda x: special.kv(x), "kv takes 2 arrays, but got 1"),
        (lambda x: special.kv(x, x, x), "kv takes 2 arrays, but got 3"),
    ],
)
def test_other_calls_of_ufuncs_are_errors(call, text):
    for run in (call, jax.jit(call)):
        with pytest.raises(rc.UnsupportedError, match=text):
            run(jnp.asarray(X))


@pytest.mark.usefixtures("only_native", "x32")
def test_single_precision_mode():
    x = X.astype(np.float32)
    assert same_bits(jax.jit(special.gamma)(x), scipy.special.gamma(x))
    f = jax.jit(lambda x: special.jv(2, x))
    assert same_bits(f(x), scipy.special.jv(2, x))


@pytest.mark.usefixtures("only_native")
def test_several_results_and_not_elementwise():
    found = jax.jit(special.sici)(X)
    assert agree(found, scipy.special.sici(X))
    split = rc.primitive(np.modf, host=True, out=lambda x: (x, x))
    y = np.stack([X, -X])
    assert agree(jax.jit(jax.vmap(split))(y), np.modf(y))
    add = rc.primitive(np.add, host=True, out=lambda x, y: y)
    outer = jax.jit(jax.vmap(add, (0, None)))
    assert same_bits(outer(y, X), y + X)


@pytest.mark.usefixtures("only_native")
def test_gufunc_with_a_batch():
    det = rc.primitive(
        lambda A: np.linalg.det(A),
        host=True,
        out="(n,n)->()",
        native=np.linalg._umath_linalg.det,
    )
    A = np.random.default_rng(0).normal(size=(3, 2, 4, 4))
    batched = jax.jit(jax.vmap(jax.vmap(det)))
    assert same_bits(batched(A), np.linalg.det(A))
    solve = rc.primitive(
        lambda A, b: np.linalg.solve(A, b),
        host=True,
        out="(n,n),(n)->(n)",
        native=np.linalg._umath_linalg.solve1,
    )
    found = jax.jit(jax.vmap(solve, (0, None)))(A[:, 0], np.ones(4))
    want = np.linalg.solve(A[:, 0], np.ones((3, 4, 1)))[..., 0]
    np.testing.assert_allclose(found, want, rtol=1e-12)


LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def cbrt():
    f = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(("cbrt", LIBM))
    return f, np.cbrt


def test_c_functions(only_native):
    LIBM.cbrt.argtypes, LIBM.cbrt.restype = [ctypes.c_double], ctypes.c_double
    LIBM.fma.argtypes, LIBM.fma.restype = [ctypes.c_double] * 3, ctypes.c_double
    one = rc.primitive(
        np.vectorize(LIBM.cbrt), host=True, elementwise=True, native=LIBM.cbrt
    )
    assert same_bits(jax.jit(one)(X), np.vectorize(LIBM.cbrt)(X))
    low = scipy.LowLevelCallable(LIBM.fma)
    three = rc.primitive(
        np.vectorize(lambda x, y, z: LIBM.fma(x, y, z)),
        host=True,
        elementwise=True,
        native=low,
    )
    found = jax.jit(three)(X[:, None], X, 2.0)
    assert same_bits(found, np.vectorize(LIBM.fma)(X[:, None], X, 2.0))


def plain(x):
    return np.exp(x)


def taking():
    """A function that writes to its argument, and says so."""
    numba = pytest.importorskip("numba")  # of the extra `compiled`

    @numba.guvectorize(["(f8[:], f8[:])"], "(n)->(n)", writable_args=("x",))
    def taken(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i]
            x[i] = -1.0

    return rc.primitive(
        lambda x: taken(x.copy()), host=True, out="(n)->(n)", native=taken
    )


REASONS = {
    "python": (
        lambda: rc.primitive(lambda x: x + 1, host=True, elementwise=True),
        (X,),
        "it is no ufunc, and its primitive has no native=",
    ),
    "objects": (
        lambda: rc.primitive(
            np.frompyfunc(lambda x: x, 1, 1), host=True, elementwise=True
        ),
        (X,),
        "needs the interpreter",
    ),
    "converted": (
        lambda: special.jv,
        (X.astype(np.float32), X),
        "NumPy would convert argument 0 from float32 to float64",
    ),
    "promise": (
        lambda: rc.primitive(
            np.exp, host=True, out=lambda x: ShapeDtype((5,), np.float32)
        ),
        (X,),
        "its loop makes float64, and the shape rule promises float32",
    ),
    "an axis of its results alone": (
        lambda: rc.primitive(
            lambda A: np.linalg.svd(A, compute_uv=False),
            host=True,
            out="(m,n)->(n)",
            native=np.linalg._umath_linalg.svd,
        ),
        (np.outer(X, X[:3]) + np.eye(5, 3),),
        "the axis p of its results is no axis of an argument",
    ),
    "declared to write": (
        lambda: rc.primitive(
            lambda x: x + 1, host=True, out="x", copy_in=True, native=np.negative
        ),
        (X,),
        "copy_in= says that it writes to its arguments",
    ),
    "writes": (
        taking,
        (X,),
        "it writes to its arguments",
    ),
    "null": (
        lambda: rc.primitive(
            plain,
            host=True,
            elementwise=True,
            native=ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(),
        ),
        (X,),
        "its address is NULL",
    ),
    "names": (
        lambda: rc.primitive(
            lambda x: dict(zip("za", np.modf(x), strict=True)),
            host=True,
            out={"z": "x", "a": "x"},
            native=np.modf,
        ),
        (X,),
        "its result is neither an array nor a tuple or list of arrays",
    ),
    "nested": (
        lambda: rc.primitive(
            lambda x: ((np.modf(x)[0],), np.modf(x)[1]),
            host=True,
            out=lambda x: ((x,), x),
            native=np.modf,
        ),
        (X,),
        "its result is neither an array nor a tuple or list of arrays",
    ),
    "no pointer type": (
        lambda: rc.primitive(plain, host=True, elementwise=True, native=LIBM.expm1),
        (X,),
        "set argtypes and restype",
    ),
    "other object": (
        lambda: rc.primitive(plain, host=True, elementwise=True, native=len),
        (X,),
        "is no ufunc and no C function",
    ),
}


Parts = namedtuple("Parts", ["fraction", "whole"])


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize("make", [tuple, list, Parts._make])
def test_results_keep_their_order(make):
    split = rc.primitive(
        lambda x: make(np.modf(x)),
        host=True,
        out=lambda x: make([x, x]),
        native=np.modf,
    )
    found = jax.jit(split)(X)
    assert type(found) is type(split(X))
    assert agree(found, split(X))


@pytest.mark.parametrize("name", REASONS)
def test_what_goes_by_callback_says_why(name):
    make, args, reason = REASONS[name]
    f = make()
    line = rc.explain(f, *args).splitlines()[-1]
    assert "by callback: " in line
    assert reason in line
    if name != "objects":  # which NumPy makes of them, and nobody asked for
        found, want = jax.jit(f)(*args), f.fun(*args)
        compare = partial(np.testing.assert_allclose, rtol=1e-6)
        jax.tree.map(compare, found, want)


@pytest.mark.full
def test_check_rule_finds_native_code_that_computes_something_else():
    f = rc.primitive(plain, host=True, elementwise=True, native=np.exp2)
    rc.scalar_rule(f, lambda y, x: (y,))
    with pytest.raises(AssertionError, match="jax: jit  y: "):
        check_rule(f, 0.3, level="full")


def test_explain_names_the_loop():
    line = rc.explain(special.kv, 1, X).splitlines()[-1]
    assert line == (
        "Compiled JAX programs call kv natively on a CPU, by its loop dd->d, and by "
        "callback elsewhere."
    )


def test_without_the_library_it_goes_by_callback(monkeypatch):
    monkeypatch.setenv("RULES_JAX_NATIVE", "0")
    monkeypatch.setattr(available, "_FOUND", [])
    line = rc.explain(special.kv, 1, X).splitlines()[-1]
    assert line == (
        "Compiled JAX programs reach kv by callback: RULES_JAX_NATIVE=0 switches "
        "native calls off."
    )
    assert same_bits(jax.jit(special.kv)(1.25, X), scipy.special.kv(1.25, X))


def test_a_failed_check_is_logged(monkeypatch, caplog):
    monkeypatch.setattr(available, "_FOUND", [])
    monkeypatch.setattr(available, "_X", available._X + 1)
    monkeypatch.setattr(available, "_alone", lambda *_: available._Y)
    assert "the check of the interfaces failed" in available.library()


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize("size", [3, 200_000])
def test_an_exception_in_a_loop_is_an_error(size):
    """NumPy's integer powers raise inside their loop, on whichever thread it runs."""
    power = jax.jit(rc.primitive(np.power, host=True, out=lambda x, y: y))
    base, exponent = jnp.full(size, 3), jnp.full(size, 2).at[-1].set(-1)
    errors = ValueError, jax.errors.JaxRuntimeError
    with pytest.raises(errors, match="host function power: Integers to negative"):
        jax.block_until_ready(power(base, exponent))
    assert int(power(base, jnp.full(size, 2))[-1]) == 9


@pytest.mark.usefixtures("only_native")
def test_floating_point_errors_are_silent():
    with np.errstate(all="raise"):
        y = jax.jit(lambda x: (special.gamma(x), special.expi(x)))(jnp.zeros(3))
        assert np.isinf(jax.block_until_ready(y)).all()


@pytest.mark.usefixtures("only_native")
def test_errors_of_scipy_are_errors_or_values():
    """Its settings are those of a thread, and the program may run on another one."""
    f = jax.jit(special.loggamma)
    with scipy.special.errstate(all="raise"), suppress(jax.errors.JaxRuntimeError):
        assert np.isinf(jax.block_until_ready(f(jnp.zeros(3)))).all()
    assert np.isinf(f(jnp.zeros(3))).all()


@pytest.mark.usefixtures("only_native")
def test_threads():
    f = jax.jit(lambda x: kv(1.5, x) + special.jv(2, x))
    xs = [np.linspace(0.1 + i, 9 + i, 20_000) for i in range(8)]
    found = [None] * 8

    def run(i):
        for _ in range(3):
            found[i] = f(xs[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, y in zip(xs, found, strict=True):
        want = scipy.special.kv(1.5, x) + scipy.special.jv(2, x)
        assert same_bits(y, want)


def test_export_names_the_function():
    with pytest.raises(NotImplementedError, match="the host function kv runs in this"):
        jax.export.export(jax.jit(lambda x: kv(1, x)))(X)
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), float)
    with pytest.raises(rc.UnsupportedError, match="host function expit .* exported"):
        jax.export.export(jax.jit(special.expit))(x)


def test_without_jit():
    with jax.disable_jit():
        assert same_bits(jax.jit(lambda x: kv(1, x))(X), scipy.special.kv(1, X))


PROGRAM = """
import json, sys
import numpy as np, jax, jax.numpy as jnp, scipy.special
from jax.sharding import PartitionSpec as P
jax.config.update("jax_enable_x64", True)
from rules_scipy import special
from rules_jax._host import call
from rules_jax._host.native import loops

hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
call._callback = None
mesh = jax.make_mesh((8,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
x = np.linspace(0.1, 9, 64)
def f(x):
    return special.kv(1.5, x) - special.jv(2, x)
want = scipy.special.kv(1.5, x) - scipy.special.jv(2, x)
shards = jax.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
spread = jax.device_put(x, jax.sharding.NamedSharding(mesh, P("d")))
found = [jax.jit(shards)(spread), jax.jit(f)(spread), jax.jit(f)(x)]
slope = scipy.special.kvp(1.5, x) - scipy.special.jvp(2, x)
grad = jax.jit(jax.grad(lambda x: shards(x).sum()))(spread)
print(json.dumps({
    "same": [bool((np.asarray(y) == want).all()) for y in found],
    "grad": bool(np.allclose(grad, slope)),
    "hits": sum("cache_hits" in name for name in hits),
    "address": sorted(loop._addresses["strided"] for _, loop in loops._KNOWN.values()),
}))
"""


@pytest.mark.full
@pytest.mark.parametrize("processes", [2])
def test_devices_and_a_program_that_another_process_compiled(tmp_path, processes):
    """The second process loads the programs of the first: loops are found by name."""
    settings = {
        "XLA_FLAGS": DEVICES,
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    found = []
    for _ in range(processes):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **settings},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    first, second = found
    for run in found:
        assert run["same"] == [True] * 3
        assert run["grad"]
    assert second["hits"] > first["hits"] + 3
    assert first["address"] != second["address"]  # else it shows nothing


def test_a_program_without_its_loop_is_an_error():
    """As where one is loaded by a process that has never compiled it."""
    target = register(available.library(), "kv")
    shape = jax.ShapeDtypeStruct((3,), np.float64)
    call = jax.ffi.ffi_call(target, shape)
    f = jax.jit(lambda x: call(x, x, key=np.int64(7), name="kv"))
    errors = ValueError, jax.errors.JaxRuntimeError
    with pytest.raises(errors, match="host function kv: the compiled program was made"):
        jax.block_until_ready(f(jnp.ones(3)))


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize(
    ("dtype", "shapes", "text"),
    [
        (np.float32, [(3,), (3,)], "another dtype"),
        (np.float64, [(3,), (2,)], "a shape that does not broadcast"),
        (np.float64, [(3,), (4, 3)], "a rank that does not fit"),
        (np.float64, [(3,)], "another number of arrays"),
    ],
)
def test_a_call_of_other_arrays_is_an_error(dtype, shapes, text):
    """Nothing makes such a program; the handler does not rely on it."""
    found = available.library()
    loop = loop_of_ufunc(scipy.special.kv, (np.dtype(np.float64),) * 2)
    loop.add_to(found)
    call = jax.ffi.ffi_call(
        register(found, "kv"), jax.ShapeDtypeStruct((3,), np.float64)
    )
    f = jax.jit(lambda *xs: call(*xs, key=np.int64(loop.key), name="kv"))
    errors = ValueError, jax.errors.JaxRuntimeError
    with pytest.raises(errors, match=f"host function kv: a native call with {text}"):
        jax.block_until_ready(f(*(jnp.ones(shape, dtype) for shape in shapes)))


OF_FUNCTIONS = (
    "tests/packs/scipy/test_special.py",
    "tests/packs/scipy/test_interior.py",
    "tests/packs/numpy/test_ufuncs_in_hosts.py",
    "tests/adapters/jax/test_host.py",
)


@pytest.mark.nightly
@pytest.mark.parametrize("file", OF_FUNCTIONS)
def test_calls_of_functions_pass_their_tests_by_callback_too(file):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", file],
        env={**os.environ, "RULES_JAX_NATIVE": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
