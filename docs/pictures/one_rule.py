"""Draws one-rule.svg: python docs/pictures/one_rule.py."""

from pathlib import Path

WIDTH, HEIGHT = 720, 300
FONT = "font-family='Helvetica, Arial, sans-serif'"
MONO = "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace'"
RULE = "rc.scalar_rule(omega, lambda y, z: (y / (1 + y),))"
FRAMEWORKS = {
    "JAX": ("#5e35b1", ["grad  jvp  hessian", "jit  vmap", "any order"]),
    "PyTorch": ("#d84315", ["backward  torch.func", "torch.compile", "any order"]),
    "NumPy": (
        "#1565c0",
        ["grad  jvp  hessian", "loops, in-place writes", "any order"],
    ),
}


def box(x, y, width, height, colour, fill="white"):
    """A rounded box."""
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='10' "
        f"fill='{fill}' stroke='{colour}' stroke-width='2'/>"
    )


def text(x, y, words, size=15, font=FONT, fill="#222", weight="normal"):
    """Centred words."""
    return (
        f"<text x='{x}' y='{y}' text-anchor='middle' font-size='{size}' {font} "
        f"fill='{fill}' font-weight='{weight}'>{words}</text>"
    )


def column(i, name, colour, lines):
    """One framework: an arrow from the rule, and what works there."""
    x = 20 + 235 * i
    middle = x + 105
    start = 360 + 120 * (i - 1)
    parts = [
        f"<path d='M{start} 92 C{start} 125 {middle} 115 {middle} 146' fill='none' "
        f"stroke='{colour}' stroke-width='2.5' marker-end='url(#tip{i})'/>",
        box(x, 155, 210, 125, colour),
        text(middle, 182, name, 18, weight="bold", fill=colour),
    ]
    parts += [
        text(middle, 210 + 25 * k, line, 14, MONO) for k, line in enumerate(lines)
    ]
    return "\n".join(parts)


def tip(i, colour):
    """The tip of an arrow."""
    return (
        f"<marker id='tip{i}' markerWidth='8' markerHeight='8' refX='5' refY='4' "
        f"orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='{colour}'/></marker>"
    )


def picture():
    """The whole."""
    tips = "".join(tip(i, colour) for i, (colour, _) in enumerate(FRAMEWORKS.values()))
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' "
        "role='img' aria-label='One rule serves JAX, PyTorch and NumPy'>",
        f"<defs>{tips}</defs>",
        box(100, 15, 520, 75, "#2e7d32", "#f1f8e9"),
        text(360, 40, "one rule: the derivative of SciPy&#8217;s wrightomega", 15),
        text(360, 70, RULE, 15, MONO, weight="bold"),
        *(column(i, n, c, t) for i, (n, (c, t)) in enumerate(FRAMEWORKS.items())),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    path = Path(__file__).with_name("one-rule.svg")
    path.write_text(picture(), encoding="utf-8")
