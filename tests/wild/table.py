"""The table of what became of every function, and the page that shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.wild.judging import Judgement, judged
from tests.wild.packages import PACKAGES, installed, prepare

MOST = 20  # functions of one package: a large one must not outweigh the others
COLUMNS = ("right", "refused", "not a number", "undecided", "wrong")
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "programs-in-the-wild.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def survey(names: list[str], most: int = MOST) -> dict[str, list[Judgement]]:
    """The judgements on the first functions of each package."""
    rows = {}
    for name in names:
        prepare(name)
        rows[name] = judged(PACKAGES[name], most)
    return rows


def rendered(rows: dict[str, list[Judgement]]) -> str:
    """Both tables in Markdown: packages with counts, and reasons."""
    head = ["package", "version", "functions", *COLUMNS, "written out"]
    lines = [line(head), line(["---"] * len(head))]
    lines += [
        line([name, installed(name), *counts(found)]) for name, found in rows.items()
    ]
    everything = [judgement for found in rows.values() for judgement in found]
    lines.append(line(["**all**", "", *counts(everything)]))
    reasons = Counter(reason(j) for j in everything if j.verdict != "right")
    lines += ["", line(["functions", "what became of them"]), line(["---", "---"])]
    lines += [line([count, text]) for text, count in sorted(reasons.items(), key=order)]
    return "\n".join(lines) + "\n"


def order(reason: tuple[str, int]) -> tuple[int, str]:
    """Frequent ones first."""
    return -reason[1], reason[0]


def line(cells: Iterable[object]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def counts(found: list[Judgement]) -> list[object]:
    """How many there are, of each verdict, and written out."""
    of = Counter(judgement.verdict for judgement in found)
    return [len(found), *(of[name] for name in COLUMNS), sum(j.written for j in found)]


def reason(judgement: Judgement) -> str:
    """Why a function is not right, without the place and the numbers."""
    if judgement.verdict != "refused":
        return f"{judgement.verdict}: `{judgement.name}`"
    text = re.sub(r" \([^()]*, line \d+\)", "", judgement.why)
    name, _, what = text.partition(": ")
    return f"`{name}`: {re.split(r', but |: ', what)[0]}"


def write(rows: dict[str, list[Judgement]]) -> None:
    """Put the tables into the page."""
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{rendered(rows)}\n{END}{after}")
