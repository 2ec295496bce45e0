"""Programs with state that is no cache: what an earlier call left is a constant.

Each text defines `program(x)`. At a fixed state its derivative is that of finite
differences, which the state of the last call does not make zero.
"""

__all__ = ["HONEST"]

# By name; a blank line ends a program.
TEXT = """
# counts calls
class S: n = 0
def program(x):
    S.n += 1
    return np.sum(x**3) + 0.0 * S.n

# counts calls in a global variable
N = 0
def program(x):
    global N
    N += 1
    return np.sum(x**3) * (1 if N else 2)

# counts new points
LAST, N = [None], [0]
def program(x):
    if LAST[0] is None or not np.allclose(LAST[0], x):
        LAST[0] = x.copy()
        N[0] += 1
    return np.sum(x**3) + 0.0 * N[0]

# logs values
LOG = []
def program(x):
    y = np.sum(x**3)
    LOG.append(float(y))
    return y

# logs values at new points
LOG, LAST = [], [None]
def program(x):
    y = np.sum(x**3)
    if LAST[0] is None or not np.array_equal(LAST[0] + 0.0, x * 1.0 + 1e-30):
        LOG.append(float(y))
    return y + 0.0 * len(LOG)

# running mean
M = [0.5]
def program(x):
    M[0] = 0.9 * M[0] + 0.1 * np.sum(x)
    return np.sum(x**3) * M[0]

# running mean in an array
M = np.full(3, 0.5)
def program(x):
    M[:] = 0.9 * M + 0.1 * x
    return np.sum(x**3 * M)

# running mean in an attribute
class S: m = 0.5
def program(x):
    s = S.m
    S.m = 0.9 * s + 0.1 * np.sum(x)
    return np.sum(x**3) * s

# running mean, gated
class S: m = 0.5
def program(x):
    if abs(x[0] - S.m) < 30.0:
        S.m = 0.9 * S.m + 0.1 * x[0]
    return np.sum(x**3) * S.m

# running mean, gate shut
class S: m = 0.7
def program(x):
    if abs(x[0] - S.m) > 30.0:
        S.m = 0.9 * S.m + 0.1 * x[0]
    return np.sum(x**3) * S.m

# best value
class S: best = 1e9
def program(x):
    y = np.sum(x**3)
    if y < S.best:
        S.best = float(y)
    return y

# best point
class S: best, at = 1e9, None
def program(x):
    y = np.sum(x**3)
    if y < S.best:
        S.best, S.at = y, x.copy()
    return y * 2

# best value, read when it is better by far
class S: best = -100.0
def program(x):
    y = np.sum(x**3)
    if y < S.best:
        S.best = y
    return y - 0.1 * S.best

# largest value as a scale
class S: top = 100.0
def program(x):
    y = np.max(np.abs(x))
    if y > S.top:
        S.top = y
    return np.sum(x**3) / S.top

# scale of the first call
class S: scale = None
def program(x):
    if S.scale is None:
        S.scale = float(np.sum(np.abs(x)))
    return np.sum(x**3) / S.scale

# first point as an origin
class S: origin = None
def program(x):
    if S.origin is None:
        S.origin = x + 1.0
    return np.sum((x - S.origin)**3)

# grid that is made when needed
class S: grid = None
def program(x):
    if S.grid is None or len(S.grid) != len(x):
        S.grid = np.linspace(1.0, 2.0, len(x))
    return np.sum(S.grid * x**3)

# grid by a function
GRID = []
def grid():
    if not GRID:
        GRID.append(np.linspace(1.0, 2.0, 3))
    return GRID[0]
def program(x):
    return np.sum(grid() * x**3)

# table of constants by a whole number
TABLE = {}
def factor(k):
    if k not in TABLE:
        TABLE[k] = 1.0 / (1 + k * k)
    return TABLE[k]
def program(x):
    return np.sum(x**3) * factor(int(x[2] + 0.5))

# table of constants by a rounded number
TABLE = {}
def program(x):
    k = round(x[2] * 10)
    if k not in TABLE:
        TABLE[k] = math.sqrt(k)
    return np.sum(x**3) * TABLE[k]

# table by length
TABLE = {}
def program(x):
    n = len(x)
    if n not in TABLE:
        TABLE[n] = np.linspace(1.0, 2.0, n)
    return np.sum(TABLE[n] * x**3)

# table by name
TABLE = {"a": 2.0}
def program(x):
    return TABLE["a"] * np.sum(x**3)

# factorials by recursion
KNOWN = {0: 1.0}
def factorial(n):
    if n not in KNOWN:
        KNOWN[n] = n * factorial(n - 1)
    return KNOWN[n]
def program(x):
    return sum(x[0]**k / factorial(k) for k in range(6)) + np.sum(x**3)

# start of a solver is the last solution
class S: y = 1.0
def program(x):
    y = S.y
    for _ in range(8):
        y = 0.5 * (y + x[2] / y)
    S.y = float(y)
    return y + np.sum(x**3)

# solver that stops by a tolerance
def program(x):
    y = 1.0
    for _ in range(50):
        step = 0.5 * (y - x[2] / y)
        y = y - step
        if abs(step) < 1e-12:
            break
    return y + np.sum(x**3)

# solver that stops, with a table
class S: w = None
def program(x):
    if S.w is None:
        S.w = np.ones(3) * 2.0
    y = 1.0
    while abs(y * y - x[2]) > 1e-9:
        y = 0.5 * (y + x[2] / y)
    return y + np.sum(S.w * x**3)

# solver that counts how often it stopped
class S: n = 0; last = 0.0
def program(x):
    y = 1.0
    for _ in range(50):
        step = 0.5 * (y - x[2] / y)
        y = y - step
        if abs(step) < 1e-12:
            S.n += 1
            S.last = float(y)
            break
    return y + np.sum(x**3)

# weights that another function learns
class S:
    w = np.array([1.0, 2.0, 3.0])
def fit(x):
    S.w = S.w + 0.1 * x
def program(x):
    return np.sum(S.w * x**3)

# weights, and a check of symmetry
W = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]])
def program(x):
    assert np.allclose(W, W.T)
    return x @ W @ x

# weights, and a check of the argument
W = [np.array([1.0, 2.0, 3.0])]
def program(x):
    if np.allclose(x, 0.5 * x + 0.5 * x):
        return np.sum(W[0] * x**3)
    W[0] = W[0] + x
    return np.sum(W[0] * x**3)

# learns only if it is told
class S:
    w, learning = 2.0, False
def program(x):
    if S.learning:
        S.w = S.w + 0.1 * np.sum(x)
    return S.w * np.sum(x**3)

# learns each tenth call
class S:
    w, n = 2.0, 1
def program(x):
    S.n += 1
    if S.n % 1000000 == 0:
        S.w = S.w + 0.1 * np.sum(x)
    return S.w * np.sum(x**3)

# state machine
class S: mode = "up"
def program(x):
    if x[0] > 100.0:
        S.mode = "down"
    elif x[0] < -100.0:
        S.mode = "up"
    return np.sum(x**3) * (1.0 if S.mode == "up" else -1.0)

# hysteresis
class S: level = 1.5
def program(x):
    if x[0] > S.level + 10.0:
        S.level = x[0] - 10.0
    return np.sum(x**3) * S.level

# momentum
class S: v = np.array([0.1, 0.2, 0.3])
def program(x):
    S.v = 0.9 * S.v - 0.1 * x
    return np.sum((x + S.v)**3)

# Adam's second moment
class S:
    m, t = np.array([0.1, 0.2, 0.3]), 0
def program(x):
    S.t += 1
    S.m = 0.99 * S.m + 0.01 * x * x
    return np.sum(x**3 / np.sqrt(S.m + 1e-8))

# ring buffer
BUFFER, PLACE = np.array([1.0, 2.0, 3.0, 4.0]), [0]
def program(x):
    BUFFER[PLACE[0] % 4] = x[0]
    PLACE[0] += 1
    return np.mean(BUFFER) * np.sum(x**3)

# deque of the last values
LAST = deque([1.0, 2.0], maxlen=3)
def program(x):
    LAST.append(x[0])
    return sum(LAST) * np.sum(x**3)

# differences from the last call
class S: x = np.array([9.0, 8.0, 7.0])
def program(x):
    d = x - S.x
    S.x = x + 5.0
    return np.sum(d**3)

# differences from the last point, which is the same
class S: x = None
def program(x):
    last = x if S.x is None else S.x
    S.x = x.copy()
    return np.sum(x**3) + np.sum(last)

# proximal point
CENTER = np.array([0.5, -1.0, 2.1])
def program(x):
    return np.sum(x**3) + np.sum((x - CENTER)**2)

# penalty that grows
class S: weight = 2.0
def program(x):
    c = np.sum(x) - 1.5
    if abs(c) > 100.0:
        S.weight = S.weight * 2
    return np.sum(x**3) + S.weight * c * c

# penalty whose constraint holds
class S: weight = 2.0
def program(x):
    c = np.sum(x) - 1.5
    if abs(c) > 1e-6:
        S.weight = S.weight * 2.0
    return np.sum(x**3) + S.weight * c * c

# multipliers
class S: m = 0.3
def program(x):
    c = np.sum(x) - 1.0
    y = np.sum(x**3) + S.m * c
    S.m = S.m + c
    return y

# adaptive step
class S: h = 0.1
def program(x):
    error = abs(x[0]) * S.h
    if error > 10.0:
        S.h = S.h / 2
    return np.sum(x**3) * S.h

# adaptive step by the argument
class S: h = 0.1
def program(x):
    if abs(x[0]) > 10.0:
        S.h = S.h / abs(x[0])
    return np.sum(x**3) * S.h

# events of a simulation
class S: next = 100.0
def program(x):
    t = 0.0
    for _ in range(5):
        t = t + x[2]
        if t > S.next:
            S.next = S.next + t
    return t * S.next + np.sum(x**3)

# generator of random numbers
RNG = np.random.default_rng(0)
def program(x):
    return np.sum(x**3) + 0.0 * RNG.normal()

# noise that is drawn once
class S: noise = None
def program(x):
    if S.noise is None:
        S.noise = np.random.default_rng(0).normal(size=x.shape)
    return np.sum((x + S.noise)**3)

# dropout mask
class S: mask = None
def program(x):
    if S.mask is None or S.mask.shape != x.shape:
        S.mask = np.random.default_rng(0).random(x.shape) > 0.2
    return np.sum(S.mask * x**3)

# workspace
WORK = np.zeros(3)
def program(x):
    WORK[...] = x
    WORK[...] = WORK * WORK
    return WORK @ x

# workspace made when needed
class S: work = None
def program(x):
    if S.work is None:
        S.work = np.empty(3)
    S.work[:] = x**2
    return S.work @ x

# workspace that is part filled
WORK = np.array([1.0, 2.0, 3.0])
def program(x):
    for i in range(3):
        if x[i] > 0:
            WORK[i] = x[i]
    return np.sum(WORK * x**2)

# local accumulators
def add(out, i, v):
    if v > 0:
        out[i] += v
def program(x):
    out = np.zeros(3)
    for i in range(3):
        add(out, i, x[i])
    same = np.allclose(x, x + 0.0)
    for i in range(3):
        add(out, i, -abs(x[i]))
    return np.sum(out) + out[1] + np.sum(x**3)

# local objects
class Best:
    def __init__(self):
        self.v, self.x = 1.0, 0.0
    def see(self, v, x):
        if v > self.v:
            self.v, self.x = v, x
def program(x):
    best = Best()
    best.see(0.5 * x[0] / x[0], 2.0)
    if x[0] == 0.5:
        pass
    best.see(x[0] - 0.5, x[1])
    return best.v * np.sum(x**3) + best.x

# local list
def program(x):
    seen = [1.0]
    for i in range(3):
        if np.isclose(x[i], 0.5):
            continue
        if x[i] > 1.0:
            seen.append(x[i])
    return sum(seen) + np.sum(x**3)

# clipping at a stored bound
class S: low, high = -1.0, 2.0
def program(x):
    y = x[0]
    if y < S.low:
        S.low = y
    return np.sum(x**3) * S.high

# bound that is met
class S: high = 2.0
def program(x):
    y = x[2] + 1.0
    if y > S.high:
        y = S.high
    return np.sum(x**3) + y * y

# warns once
class S: warned = False
def program(x):
    if not S.warned and np.min(x) < 0:
        S.warned = True
    return np.sum(x**3)

# times
class S: spent = 0.0
def program(x):
    start = time.perf_counter()
    y = np.sum(x**3)
    S.spent += time.perf_counter() - start
    return y

# prints each hundredth
class S: n = 1
def program(x):
    S.n += 1
    if S.n % 1000000 == 0:
        print(x, S.n)
    return np.sum(x**3)

# configuration by a dict
CONFIG = {"p": 3.0, "scale": 2.0}
def program(x):
    if x[0] > 1e6:
        CONFIG["scale"] = 1.0
    return CONFIG["scale"] * np.sum(x**3)

# interpolation in a table
XS, YS = np.linspace(-3, 3, 7), np.linspace(-3, 3, 7)**2
def program(x):
    i = int(np.floor(x[0])) + 3
    t = x[0] - XS[i]
    return YS[i] * (1 - t) + YS[i + 1] * t + np.sum(x**3)

# table extended when needed
XS = [0.0, 1.0, 2.0, 3.0]
def program(x):
    while XS[-1] < x[2]:
        XS.append(XS[-1] + 1.0)
    i = int(x[2] + 0.5)
    return XS[i] * np.sum(x**3)

# cache of the run, whole numbers
def program(x):
    known = {}
    def power(k):
        if k not in known:
            known[k] = x[0] if k <= 1 else power(k // 2) * power(k - k // 2)
        return known[k]
    return power(5) + power(3) + np.sum(x**3)

# functools.cache
@functools.cache
def binomial(n, k):
    return math.comb(n, k) * 1.0
def program(x):
    return sum(binomial(3, k) * x[0]**k for k in range(4)) + np.sum(x**3)

# try and except, with a log
LOG = []
def program(x):
    try:
        y = math.sqrt(x[2])
    except ValueError:
        LOG.append(x[2])
        y = 0.0
    return y + np.sum(x**3)

# try and except, with a default that is kept
class S: y = 3.0
def program(x):
    try:
        S.y = math.sqrt(x[2])
    except ValueError:
        pass
    return S.y + np.sum(x**3)

# a default in the handler
class S: y = 3.0
def program(x):
    try:
        y = math.sqrt(x[2])
    except ValueError:
        S.y = y = x[2]
    return y * S.y + np.sum(x**3)

# momentum reset near the optimum
class S: v = 0.3
def program(x):
    g = x[0] - 0.5
    if abs(g) > 1e-9:
        S.v = 0.9 * S.v + g
    return np.sum(x**3) + S.v * x[1]

# plateau counter
class S: last, n = 0.0, 0
def program(x):
    y = np.sum(x**3)
    if abs(y - S.last) < 1e-9:
        S.n += 1
    S.last = float(y)
    return y * 1.0 + 0.0 * S.n

# best point, with a pull to it
class S: best, at = -1e9, np.array([1.0, 1.0, 1.0])
def program(x):
    y = np.sum(x**3)
    if y < S.best:
        S.best, S.at = y, x.copy()
    return y + np.sum((x - S.at)**2)
"""


def texts() -> dict[str, str]:
    parts = [part.strip() for part in TEXT.split("\n\n")]
    found = {}
    for part in parts:
        title, text = part.split("\n", 1)
        found[title.removeprefix("# ")] = text
    return found


HEAD = """
import functools
import math
import time
from collections import deque
import numpy as np
"""
HONEST = {name: HEAD + text for name, text in texts().items()}
