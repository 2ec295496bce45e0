"""A host function without a rule, differentiated in both hosts to every order."""

import numpy as np
import pytest

from tests.interop.simulations import CASES, HOSTS, differences, host_of

pytestmark = [
    pytest.mark.covering(strength=1),
    pytest.mark.parametrize("case", CASES.values(), ids=CASES),
    pytest.mark.parametrize("host", HOSTS, indirect=True),
]


@pytest.fixture
def host(request):
    return host_of(request.param)


def numbers(*xs):
    return [np.asarray(x) for x in xs]


def gradient(case, x, b):
    return differences(case.loss, x, b)


def test_gradient(case, host):
    found = host.grad(host.loss(case), (0, 1))(*host.point(case))
    for a, b in zip(numbers(*found), gradient(case, case.x, case.b), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-8)


def test_compiled_gradient(case, host):
    slope = host.compiled(host.grad(host.loss(case), (0, 1)))
    found = slope(*host.point(case))
    for a, b in zip(numbers(*found), gradient(case, case.x, case.b), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("compiled", [False, True])
def test_forward_mode(case, host, compiled):
    loss, (x, b) = host.loss(case), host.point(case)

    def along(x, b):
        return host.jvp(loss, (x, b), (x, b))

    y, dy = (host.compiled(along) if compiled else along)(x, b)
    dx, db = gradient(case, case.x, case.b)
    np.testing.assert_allclose(y, case.loss(case.x, case.b), rtol=1e-12)
    np.testing.assert_allclose(dy, dx @ case.x + db * case.b, rtol=1e-6)


@pytest.mark.covering(every=9)
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
def test_second_order(case, host, outer, inner):
    loss, point = host.loss(case), host.point(case)
    second = getattr(host, outer)(getattr(host, inner)(loss))
    found = np.asarray(second(*point))

    def row(x):
        return differences(case.loss, x, case.b)[0]

    step = 1e-4
    want = [
        (row(case.x + e) - row(case.x - e)) / (2 * step)
        for e in step * np.eye(case.x.size)
    ]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


def test_third_order(case, host):
    loss, (x, b) = host.loss(case), host.point(case)

    def second(b):
        return host.grad(host.grad(lambda b: loss(x, b)))(b)

    found = host.jvp(second, (b,), (host.array(1.0),))[1]
    h = 2e-3  # fourth-order differences of the value
    ys = [case.loss(case.x, case.b + k * h) for k in (-3, -2, -1, 1, 2, 3)]
    weights = np.array([1, -8, 13, -13, 8, -1]) / 8
    np.testing.assert_allclose(found, weights @ ys / h**3, rtol=1e-4, atol=1e-4)


def test_batches(case, host):
    loss, b = host.loss(case), host.array(case.b)
    xs = host.array(np.stack([case.x, 0.9 * case.x, 1.1 * case.x]))
    slope = host.grad(loss, (0, 1))
    found = host.vmap(slope, (0, None))(xs, b)
    want = [slope(x, b) for x in xs]
    for i in range(3):
        for a, c in zip(found, want[i], strict=True):
            np.testing.assert_allclose(np.asarray(a[i]), np.asarray(c), rtol=1e-12)
