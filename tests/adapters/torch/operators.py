"""torch's operators, by their names in its database, written with NumPy's names.

A line reads `operator(parameters) -> expression`. The parameters are those of torch's
operator; a sample with any other (`alpha`, `dtype`, …) is left out. In the expression
`xp` is a namespace of primitives: the NumPy pack's functions and SciPy's
(`xp.special`), or the generic ones of `generic_rules`.
"""

# ruff: noqa: E501  one entry, one line
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["OPERATORS", "Operator"]

_SAME = """acos acosh asin asinh atan atanh ceil conj cos cosh deg2rad exp exp2 expm1
floor i0 imag log log10 log1p log2 nan_to_num positive rad2deg real reciprocal round
sign sin sinc sinh sqrt square tan tanh trunc"""
_SAME_OF_TWO = """atan2 copysign float_power fmax fmin fmod hypot inner kron logaddexp
logaddexp2 matmul maximum minimum nextafter outer pow remainder vdot dot"""
_SPECIAL = """digamma erf erfc erfinv"""

_TEXT = """
abs(x) -> xp.absolute(x)
angle(x) -> xp.angle(x)
conj_physical(x) -> xp.conj(x)
neg(x) -> xp.negative(x)
rsqrt(x) -> xp.reciprocal(xp.sqrt(x))
sgn(x) -> xp.sign(x)
frexp(x) -> xp.frexp(x)
round.decimals_0(x, decimals) -> xp.round(x, decimals=decimals)
round.decimals_3(x, decimals) -> xp.round(x, decimals=decimals)
clamp(x, low, high) -> xp.clip(x, low, high)
add(a, b) -> xp.add(a, b)
clamp_max(a, b) -> xp.minimum(a, b)
clamp_min(a, b) -> xp.maximum(a, b)
max.binary(a, b) -> xp.maximum(a, b)
min.binary(a, b) -> xp.minimum(a, b)
div.no_rounding_mode(a, b) -> xp.divide(a, b)
div.floor_rounding(a, b, rounding_mode) -> xp.floor_divide(a, b)
mul(a, b) -> xp.multiply(a, b)
sub(a, b) -> xp.subtract(a, b)
rsub(a, b) -> xp.subtract(b, a)
true_divide(a, b) -> xp.divide(a, b)
ldexp(a, b) -> xp.multiply(a, xp.exp2(b))
where(a, condition, b) -> xp.where(condition, a, b)
masked_fill(a, condition, b) -> xp.where(condition, b, a)
lerp(a, b, w) -> xp.add(a, xp.multiply(w, xp.subtract(b, a)))
addcmul(x, a, b) -> xp.add(x, xp.multiply(a, b))
addcdiv(x, a, b) -> xp.add(x, xp.divide(a, b))
special.xlog1py(a, b) -> xp.special.xlog1py(a, b)
special.polygamma.special_polygamma_n_0(x, n) -> xp.special.polygamma(n, x)
polygamma.polygamma_n_1(x, n) -> xp.special.polygamma(n, x)
polygamma.polygamma_n_2(x, n) -> xp.special.polygamma(n, x)
polygamma.polygamma_n_3(x, n) -> xp.special.polygamma(n, x)
xlogy(a, b) -> xp.special.xlogy(a, b)
lgamma(x) -> xp.special.gammaln(x)
sigmoid(x) -> xp.special.expit(x)
logit(x) -> xp.special.logit(x)
logsumexp(x, dim, keepdim=False) -> xp.special.logsumexp(x, axis=dim, keepdims=keepdim)
sum(x, dim=None, keepdim=False) -> xp.sum(x, axis=dim, keepdims=keepdim)
mean(x, dim=None, keepdim=False) -> xp.mean(x, axis=dim, keepdims=keepdim)
prod(x, dim=None, keepdim=False) -> xp.prod(x, axis=dim, keepdims=keepdim)
amax(x, dim=None, keepdim=False) -> xp.max(x, axis=dim, keepdims=keepdim)
amin(x, dim=None, keepdim=False) -> xp.min(x, axis=dim, keepdims=keepdim)
max.reduction_no_dim(x) -> xp.max(x)
min.reduction_no_dim(x) -> xp.min(x)
nansum(x, dim=None, keepdim=False) -> xp.nansum(x, axis=dim, keepdims=keepdim)
nanmean(x, dim=None, keepdim=False) -> xp.nanmean(x, axis=dim, keepdims=keepdim)
var(x, dim=None, correction=None, keepdim=False) -> xp.var(x, axis=dim, correction=1 if correction is None else correction, keepdims=keepdim)
std(x, dim=None, correction=None, keepdim=False) -> xp.std(x, axis=dim, correction=1 if correction is None else correction, keepdims=keepdim)
cumsum(x, dim) -> xp.cumsum(x, axis=dim)
cumprod(x, dim) -> xp.cumprod(x, axis=dim)
quantile(x, q, dim=None, keepdim=False, interpolation="linear") -> xp.quantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)
nanquantile(x, q, dim=None, keepdim=False, interpolation="linear") -> xp.nanquantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)
diff(x, n=1, dim=-1, prepend=None, append=None) -> xp.diff(x, n, dim, *(() if prepend is None and append is None else (prepend, append)))
trapezoid(y, x=None, dim=-1, dx=1.0) -> xp.trapezoid(y, x, dx, dim)
gradient(x, spacing=1.0, dim=None, edge_order=1) -> xp.gradient(x, *(spacing if isinstance(spacing, list) else [spacing]), axis=dim, edge_order=edge_order)
cov(x, correction=1, fweights=None, aweights=None) -> xp.cov(x, ddof=correction, fweights=fweights, aweights=aweights)
corrcoef(x) -> xp.corrcoef(x)
broadcast_to(x, shape) -> xp.broadcast_to(x, shape)
broadcast_tensors(*xs) -> xp.broadcast_arrays(*xs)
atleast_1d(x) -> xp.atleast_1d(x)
atleast_2d(x) -> xp.atleast_2d(x)
atleast_3d(x) -> xp.atleast_3d(x)
reshape(x, shape) -> xp.reshape(x, shape)
ravel(x) -> xp.ravel(x)
permute(x, dims) -> xp.permute_dims(x, dims)
transpose(x, a, b) -> xp.swapaxes(x, a, b)
movedim(x, a, b) -> xp.moveaxis(x, a, b)
mT(x) -> xp.matrix_transpose(x)
squeeze(x, dim=None) -> xp.squeeze(x, axis=tuple(i for i in ((dim,) if isinstance(dim, int) else range(x.ndim) if dim is None else dim) if x.ndim and x.shape[i] == 1))
unsqueeze(x, dim) -> xp.expand_dims(x, axis=dim)
flip(x, dims) -> xp.flip(x, axis=tuple(dims))
fliplr(x) -> xp.fliplr(x)
flipud(x) -> xp.flipud(x)
roll(x, shifts, dims=None) -> xp.roll(x, shifts, axis=dims)
rot90(x, k=1, dims=(0, 1)) -> xp.rot90(x, k, dims)
cat(xs, dim=0) -> xp.concat(xs, axis=dim)
stack(xs, dim=0) -> xp.stack(xs, axis=dim)
unbind(x, dim=0) -> xp.unstack(x, axis=dim)
hstack(xs) -> xp.hstack(xs)
vstack(xs) -> xp.vstack(xs)
dstack(xs) -> xp.dstack(xs)
column_stack(xs) -> xp.column_stack(xs)
hsplit(x, n) -> xp.hsplit(x, n)
vsplit(x, n) -> xp.vsplit(x, n)
dsplit(x, n) -> xp.dsplit(x, n)
tile(x, repeats) -> xp.tile(x, repeats)
repeat(x, repeats) -> xp.tile(x, repeats)
repeat_interleave(x, repeats, dim=None) -> xp.repeat(x, repeats, axis=dim)
meshgrid.variadic_tensors(*xs, indexing) -> xp.meshgrid(*xs, indexing=indexing)
take(x, index) -> xp.take(x, index)
index_select(x, dim, index) -> xp.take(x, index, axis=dim)
take_along_dim(x, index, dim) -> xp.take_along_axis(x, index, dim)
sort(x, dim=-1, descending=False) -> xp.sort(x, axis=dim) if not descending else None
msort(x) -> xp.sort(x, axis=0)
tril(x, k=0) -> xp.tril(x, k)
triu(x, k=0) -> xp.triu(x, k)
diag(x, k=0) -> xp.diag(x, k)
diagflat(x, offset=0) -> xp.diagflat(x, offset)
diagonal(x, offset=0, dim1=0, dim2=1) -> xp.diagonal(x, offset, dim1, dim2)
trace(x) -> xp.trace(x)
constant_pad_nd(x, pad, value=0) -> xp.pad(x, [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2])), constant_values=value) if min(pad) >= 0 else None
bmm(a, b) -> xp.matmul(a, b)
mm(a, b) -> xp.matmul(a, b)
mv(a, b) -> xp.matmul(a, b)
tensordot(a, b, dims) -> xp.tensordot(a, b, axes=dims)
einsum(xs, equation) -> xp.einsum(equation, *xs)
cross(a, b, dim) -> xp.linalg.cross(a, b, axis=dim)
linalg.cross(a, b, dim=-1) -> xp.linalg.cross(a, b, axis=dim)
linalg.det(x) -> xp.linalg.det(x)
linalg.slogdet(x) -> xp.linalg.slogdet(x)
linalg.inv(x) -> xp.linalg.inv(x)
linalg.solve(a, b) -> xp.linalg.solve(a, b)
linalg.cholesky(x, upper=False) -> xp.linalg.cholesky(x, upper=upper)
linalg.eigh(x, UPLO="L") -> xp.linalg.eigh(x, UPLO=UPLO)
linalg.eigvalsh(x, UPLO="L") -> xp.linalg.eigvalsh(x, UPLO=UPLO)
linalg.eig(x) -> xp.linalg.eig(x)
linalg.eigvals(x) -> xp.linalg.eigvals(x)
linalg.qr(x, mode="reduced") -> xp.linalg.qr(x, mode=mode)
linalg.svd(x, full_matrices) -> xp.linalg.svd(x, full_matrices=full_matrices)
linalg.svdvals(x) -> xp.linalg.svdvals(x)
linalg.pinv(x, atol=None, rtol=None) -> xp.linalg.pinv(x, rtol=rtol)
linalg.pinv.hermitian(x, hermitian) -> xp.linalg.pinv(x, hermitian=hermitian)
pinverse(x) -> xp.linalg.pinv(x)
linalg.matrix_power(x, n) -> xp.linalg.matrix_power(x, n)
linalg.multi_dot(xs) -> xp.linalg.multi_dot(xs)
linalg.norm(x, ord=None, dim=None, keepdim=False) -> xp.linalg.norm(x, ord, dim, keepdim)
linalg.norm.subgradients_at_zero(x, ord=None, dim=None, keepdim=False) -> xp.linalg.norm(x, ord, dim, keepdim)
linalg.matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False) -> xp.linalg.norm(x, ord, dim, keepdim)
linalg.vector_norm(x, ord=2, dim=None, keepdim=False) -> xp.linalg.vector_norm(x, axis=dim, keepdims=keepdim, ord=ord)
linalg.cond(x, p=None) -> xp.linalg.cond(x, p)
linalg.vecdot(a, b, dim=-1) -> xp.linalg.vecdot(a, b, axis=dim)
linalg.diagonal(x, offset=0, dim1=-2, dim2=-1) -> xp.diagonal(x, offset, dim1, dim2)
linalg.tensorinv(x, ind=2) -> xp.linalg.tensorinv(x, ind)
linalg.tensorsolve(a, b, dims=None) -> xp.linalg.tensorsolve(a, b, dims)
linalg.vander(x, N=None) -> xp.vander(x, N, True) if x.ndim == 1 else None
fft.fftshift(x, dim=None) -> xp.fft.fftshift(x, axes=dim)
fft.ifftshift(x, dim=None) -> xp.fft.ifftshift(x, axes=dim)
"""


class Operator:
    """One of torch's operators.

    Attributes:
        name: Its name in the database, with the variant after a dot.
        call: `call(xp)(*args, **kwargs)` by the functions of a namespace.
        needs: The functions that it takes from the namespace.
    """

    def __init__(self, name: str, parameters: str, expression: str) -> None:
        self.name = name
        text = f"lambda xp: lambda {parameters}: {expression}"
        self.call: Callable[..., Any] = eval(text)
        self.needs = sorted(set(re.findall(r"\bxp\.([a-z_0-9.]+)", expression)))


def _transforms() -> Iterator[str]:
    for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        yield (
            f"fft.{kind}(x, n=None, dim=-1, norm=None) -> "
            f"xp.fft.{kind}(x, n=n, axis=dim, norm=norm)"
        )
    for kind in ("fft", "ifft", "rfft", "irfft"):
        given = "axes=dim, norm=norm)"
        yield f"fft.{kind}2(x, s=None, dim=(-2, -1), norm=None) -> xp.fft.{kind}2(x, s=s, {given}"
        yield f"fft.{kind}n(x, s=None, dim=None, norm=None) -> xp.fft.{kind}n(x, s=s, {given}"


def _lines() -> Iterator[str]:
    yield from (f"{name}(x) -> xp.{name}(x)" for name in _SAME.split())
    yield from (f"{name}(a, b) -> xp.{name}(a, b)" for name in _SAME_OF_TWO.split())
    yield from (f"{name}(x) -> xp.special.{name}(x)" for name in _SPECIAL.split())
    yield from _transforms()
    yield from _TEXT.strip().splitlines()


def _read() -> Iterator[Operator]:
    for line in _lines():
        head, expression = line.split(" -> ")
        name, parameters = head.split("(", 1)
        yield Operator(name, parameters[:-1], expression)


OPERATORS = list(_read())
