"""Functions of arrays in compiled code, as text: what NumPy does, in its order."""

__all__ = ["ARRAY_TEXTS"]

# A reduction along one axis of a matrix. NumPy adds pairwise along an axis whose
# entries are next to each other, and row by row along another one.
ALONG = """
def {name}_along_{axis}(x):
    n = x.shape[{other}]
    made = np.empty(n)
    for j in range(n):
        made[j] = {name}({part})
    return made
"""
WINNERS = """
def winners_along_{axis}(d, hit):
    count = np.zeros({shape})
    for i in range(hit.shape[0]):
        for j in range(hit.shape[1]):
            if hit[i, j]:
                count[{place}] += 1.0
    for k in range(hit.shape[{other}]):
        if count[{each}] == 0.0:
            raise ValueError
    return hit * (d / count)
"""
EXTREME = """
def {name}(x):
    if x.size == 0:
        raise ValueError
    found = x[0]
    for z in x:
        if z != z:
            raise ValueError
        if z {sign} found:
            found = z
    return found
"""
PLACE = """
def place_of_{name}(x):
    if x.size == 0:
        raise ValueError
    place = 0
    for i in range(x.size):
        if x[i] != x[i]:
            raise ValueError
        if x[i] {sign} x[place]:
            place = i
    return place
"""

ARRAY_TEXTS: dict[str, str] = {
    "sum_1": """
def sum_1(x):
    return pairs(x, 0, x.size) + 0.0
""",
    # In the order of memory: NumPy puts rows that are apart together first.
    "entries": """
def entries(x):
    if abs(x.strides[0]) < abs(x.strides[1]):
        x = x.T
    return np.ascontiguousarray(x).reshape(x.size)
""",
    "sum_2": """
def sum_2(x):
    if x.shape[0] == 1:
        return sum_1(x[0])
    if x.shape[1] == 1:
        return sum_1(x[:, 0])
    return sum_1(entries(x))
""",
    "sum_along_0": """
def sum_along_0(x):
    n, m = x.shape
    made = np.zeros(m)
    if m == 1 or abs(x.strides[0]) < abs(x.strides[1]):
        for j in range(m):
            made[j] = sum_1(x[:, j])
        return made
    for i in range(n):
        for j in range(m):
            made[j] += x[i, j]
    return made
""",
    "sum_along_1": """
def sum_along_1(x):
    return sum_along_0(x.T)
""",
    "counted": """
def counted(hit):
    n = 0
    for i in range(hit.size):
        if hit[i]:
            n += 1
    return n
""",
    "any_of": """
def any_of(hit):
    return counted(hit) > 0
""",
    "all_of": """
def all_of(hit):
    return counted(hit) == hit.size
""",
    "winners": """
def winners(d, hit):
    n = counted(np.ascontiguousarray(hit).reshape(hit.size))
    if n == 0:
        raise ValueError
    return hit * (d / n)
""",
    "shares": """
def shares(more, less, ties):
    size = more.size
    decided = counted(np.ascontiguousarray(more).reshape(size))
    decided += counted(np.ascontiguousarray(less).reshape(size))
    if decided + counted(np.ascontiguousarray(ties).reshape(size)) != size:
        raise ValueError
    return more + 0.5 * ties
""",
    "inverse_parts": """
def inverse_parts(x, y):
    squares = x * x + y * y
    for square in np.ascontiguousarray(squares).reshape(squares.size):
        if not 1e-250 < square < 1e250:
            raise ValueError
    return x / squares
""",
    "product": """
def product(x):
    found = 1.0
    for z in x:
        found *= z
    return found
""",
    "known_product": """
def known_product(z):
    if not abs(z) > 1e-290:
        raise ValueError
    return z
""",
    "variance": """
def variance(x, ddof):
    centred = x - sum_1(x) / x.size
    if not x.size > ddof:
        raise ValueError
    return sum_1(centred * centred) / (x.size - ddof)
""",
    "running_sum": """
def running_sum(x):
    made = np.empty(x.size)
    s = 0.0
    for i in range(x.size):
        s = s + x[i] if i else x[i]
        made[i] = s
    return made
""",
    "length": """
def length(x):
    return math.sqrt(dot_1_1(x, x))
""",
    "trace": """
def trace(x):
    s = 0.0
    for i in range(min(x.shape[0], x.shape[1])):
        s += x[i, i]
    return s
""",
    "on_diagonal": """
def on_diagonal(d, shape):
    made = np.zeros(shape)
    for i in range(min(shape[0], shape[1])):
        made[i, i] = d
    return made
""",
    "outer": """
def outer(x, y):
    made = np.empty((x.size, y.size))
    for i in range(x.size):
        for j in range(y.size):
            made[i, j] = x[i] * y[j]
    return made
""",
    "unit": """
def unit(n, m):
    made = np.zeros((n, m))
    for i in range(min(n, m)):
        made[i, i] = 1.0
    return made
""",
    "whole_range": """
def whole_range(start, stop):
    made = np.empty(max(stop - start, 0), np.int64)
    for i in range(made.size):
        made[i] = start + i
    return made
""",
    "float_range": """
def float_range(start, stop, step):
    n = max(whole(np.ceil((stop - start) / step)), 0)
    made = np.empty(n)
    change = (start + step) - start
    for i in range(n):
        made[i] = start + i * change
    if n > 1:
        made[1] = start + step
    return made
""",
    "even_steps": """
def even_steps(start, stop, n):
    made = np.empty(n)
    step = (stop - start) / (n - 1)
    if step == 0.0 and stop != start:
        raise ValueError
    for i in range(n):
        made[i] = i * step + start
    made[n - 1] = stop
    return made
""",
    "ramp": """
def ramp(n):
    made = np.empty(n)
    for i in range(n):
        made[i] = i / max(n - 1, 1)
    return made
""",
    "by_stop": """
def by_stop(d):
    return dot_1_1(d, ramp(d.size))
""",
    "by_start": """
def by_start(d):
    return sum_1(d) - by_stop(d)
""",
    "only": """
def only(x):
    unequal(x.size, 1)
    return x[0]
""",
    "row_of": """
def row_of(parts):
    made = np.empty(len(parts))
    for i in range(len(parts)):
        made[i] = parts[i]
    return made
""",
    "rows_of": """
def rows_of(parts):
    made = np.empty((len(parts), parts[0].size))
    for i in range(len(parts)):
        unequal(parts[i].size, parts[0].size)
        made[i] = parts[i]
    return made
""",
    "both_ends": """
def both_ends(x, y):
    made = np.empty(x.size + y.size)
    made[: x.size] = x
    made[x.size :] = y
    return made
""",
    "undiff": """
def undiff(d, n):
    made = np.zeros(n)
    for i in range(d.size):
        made[i + 1] += d[i]
        made[i] -= d[i]
    return made
""",
    "one_mask": """
def one_mask(first):
    made = np.empty(1, np.bool_)
    made[0] = first
    return made
""",
    # The length of an axis to which others are broadcast, and the place on one of them.
    "one_length": """
def one_length(n, m, k):
    most = max(n, m, k)
    for size in (n, m, k):
        if size != most and size != 1:
            if size != 0 or most != 1:
                raise ValueError
    return 0 if min(n, m, k) == 0 else most
""",
    "place_on": """
def place_on(size, i):
    return i if size > 1 else 0
""",
    "where_1": """
def where_1(mask, x, y):
    p, q, r = mask.size, x.size, y.size
    made = np.empty(one_length(p, q, r))
    for i in range(made.size):
        first = mask[place_on(p, i)]
        made[i] = x[place_on(q, i)] if first else y[place_on(r, i)]
    return made
""",
    "where_2": """
def where_2(mask, x, y):
    p, q, r = mask.shape[0], x.shape[0], y.shape[0]
    m = one_length(mask.shape[1], x.shape[1], y.shape[1])
    made = np.empty((one_length(p, q, r), m))
    for i in range(made.shape[0]):
        row = where_1(mask[place_on(p, i)], x[place_on(q, i)], y[place_on(r, i)])
        for j in range(m):
            made[i, j] = row[j]
    return made
""",
}  # fmt: skip
for _name, _sign in (("largest", ">"), ("smallest", "<")):
    ARRAY_TEXTS[_name] = EXTREME.format(name=_name, sign=_sign)
    ARRAY_TEXTS[f"place_of_{_name}"] = PLACE.format(name=_name, sign=_sign)
    for _axis, _part in ((0, "x[:, j]"), (1, "x[j]")):
        ARRAY_TEXTS[f"{_name}_along_{_axis}"] = ALONG.format(
            name=_name, axis=_axis, other=1 - _axis, part=_part
        )
for _axis, _shape, _place, _each in (
    (0, "(1, hit.shape[1])", "0, j", "0, k"),
    (1, "(hit.shape[0], 1)", "i, 0", "k, 0"),
):
    ARRAY_TEXTS[f"winners_along_{_axis}"] = WINNERS.format(
        axis=_axis, shape=_shape, place=_place, each=_each, other=1 - _axis
    )
