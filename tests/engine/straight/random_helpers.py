"""What generated programs call and read."""

import numpy as np

RATE = 0.75
WEIGHTS = np.array([0.5, -1.0, 0.25, 2.0])
KEYS = np.array([1, 3, 0, 1])
TRIPLE = np.array([0, 2, 2])
MASK = np.array([True, False, True, True])


def scaled(v, by=0.5):
    """A default and a keyword."""
    return v * by + RATE


def early(v, w):
    """Returns in the middle of a loop."""
    total = 0
    for i in range(len(w)):
        total += w[i] * v
        if total > 0.8:
            return total * 0.5
        if total < -0.8:
            break
    else:
        total = total * v
    return np.tanh(total)


def folded(w, depth):
    """Calls itself."""
    if depth == 0:
        return w[0] * w[-1]
    return np.sin(folded(w[::-1] * 0.5, depth - 1)) + w[depth]


def softened(w):
    """Writes into an array of its own."""
    out = np.zeros_like(w)
    for i in range(len(w)):
        out[i] = np.tanh(w[i])
        if i > 0:
            out[i] += out[i - 1] * 0.5
    return out


def same(w):
    """Its argument itself."""
    return w


def both(v, w):
    """Two results, of which one is no array."""
    big = v * w
    return np.sum(big), big - v


def halves(v):
    """Two numbers, one of them its argument."""
    return v, v * 0.5
