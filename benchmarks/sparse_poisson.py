"""A Poisson problem with its coefficients to be found: cost of a gradient.

-div(k grad u) = 1 on a square grid, u = 0 at its boundary; the loss is the distance to
given values, the argument the coefficient on each edge of the grid. The gradient should
cost one further solve, and memory a constant times that of the solve alone.

    python benchmarks/sparse_poisson.py [SIDE] [HOST] [METHOD]

SIDE² is the number of unknowns (1000: a million), HOST numpy, jax or torch, METHOD lu
or cg. Each of value and gradient runs in a process of its own, for its memory.
"""

import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as la

METHODS = ("lu", "cg")


def grid(side):
    """The differences along all edges, `(edges, side²)`."""
    step = sp.diags_array([1.0, -1.0], offsets=[0, -1], shape=(side + 1, side))
    eye = sp.eye_array(side)
    return sp.vstack([sp.kron(step, eye), sp.kron(eye, step)]).tocsr()


def numpy_program(side, method):
    from rules_autodiff import grad

    difference = grid(side)
    load = np.ones(side**2) / (side + 1) ** 2

    def loss(k):
        A = (difference.T @ (sp.diags_array(k) @ difference)).tocsc()
        if method == "lu":
            return np.sum(la.spsolve(A, load) ** 2)
        return np.sum(la.cg(A, load, rtol=1e-8)[0] ** 2)

    return loss, grad(loss), np.ones(difference.shape[0])


def framework_program(side, method, host):
    from rules_scipy.sparse import as_sparse, linalg

    difference = grid(side)
    assembly, pattern = assembled(difference)
    load = np.ones(side**2) / (side + 1) ** 2
    k = np.ones(difference.shape[0])

    def loss(k):
        A = pattern.with_data(as_sparse(assembly) @ k)
        if method == "lu":
            return (linalg.spsolve(A, load) ** 2).sum()
        return (linalg.cg(A, load, rtol=1e-8)[0] ** 2).sum()

    if host == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.jit(loss), jax.jit(jax.grad(loss)), jax.numpy.asarray(k)
    import torch

    return loss, torch.func.grad(loss), torch.tensor(k)


def assembled(difference):
    """The constant map from coefficients to stored numbers, and the pattern."""
    from rules_scipy.sparse import as_sparse

    matrix = (difference.T @ difference).tocsr()
    matrix.sort_indices()
    n = matrix.shape[0]
    places = np.repeat(np.arange(n), np.diff(matrix.indptr)) * n + matrix.indices
    rows, edges, values = [], [], []
    by_edge = difference.tocsr()
    for shift in range(4):  # an edge has at most two ends: four products
        first, second = divmod(shift, 2)
        has = np.diff(by_edge.indptr) > max(first, second)
        start = by_edge.indptr[:-1][has]
        i, j = by_edge.indices[start + first], by_edge.indices[start + second]
        rows.append(np.searchsorted(places, i.astype(np.int64) * n + j))
        edges.append(np.flatnonzero(has))
        values.append(by_edge.data[start + first] * by_edge.data[start + second])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(edges))
    shape = (matrix.nnz, difference.shape[0])
    return sp.coo_array(entries, shape=shape).tocsr(), as_sparse(matrix)


def measured(side, host, method, what):
    """Seconds of the second call, and megabytes at most."""
    if host == "numpy":
        value, gradient, k = numpy_program(side, method)
    else:
        value, gradient, k = framework_program(side, method, host)
    f = value if what == "value" else gradient
    float(np.asarray(f(k)).ravel()[0])
    start = time.perf_counter()
    float(np.asarray(f(k * 1.01)).ravel()[0])
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return seconds, memory


def main(side="300", host="numpy", method="lu", what=None):
    if what is not None:
        print(*measured(int(side), host, method, what))
        return
    found = {}
    for each in ("value", "gradient"):
        command = [sys.executable, __file__, side, host, method, each]
        lines = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, memory = map(float, lines.stdout.split())
        found[each] = seconds, memory
        print(f"{each:9} {seconds:8.2f} s {memory:8.0f} MB")
    ratios = np.divide(found["gradient"], found["value"])
    print(f"ratio     {ratios[0]:8.2f}   {ratios[1]:8.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
