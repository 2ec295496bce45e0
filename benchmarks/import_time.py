"""What `import rules_core` costs beyond a bare interpreter, and which part is ours.

Run: `.venv/bin/python benchmarks/import_time.py`. Prints minima over fresh processes.
"""

import os
import resource
import subprocess
import sys

RUNS = 15
PREFIXES = ("rules_core",)

# Users' interpreters keep bytecode; where that is switched off every run compiles.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def cpu(code: str) -> float:
    """Milliseconds of CPU time of the quickest of RUNS interpreters that run `code`.

    CPU time, because on a busy machine the wall clock measures the neighbours.
    """
    best = float("inf")
    for _ in range(RUNS):
        before = children()
        subprocess.run([sys.executable, "-c", code], check=True)
        best = min(best, children() - before)
    return best * 1e3


def children() -> float:
    """Seconds of CPU time that finished child processes have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def modules() -> list[tuple[str, float]]:
    """Each module that the import brings, with its own milliseconds (best of RUNS)."""
    best: dict[str, float] = {}
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "import rules_core"],
            check=True,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
        )
        for line in done.stderr.splitlines()[1:]:
            own, _, name = (part.strip() for part in line.split("|"))
            cost = int(own.removeprefix("import time:")) / 1e3
            best[name] = min(cost, best.get(name, cost))
    return sorted(best.items(), key=lambda item: -item[1])


def bare_modules() -> set[str]:
    """What an interpreter has imported before it runs anything."""
    code = "import sys; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


def main() -> None:
    """Print the figures."""
    bare, full = cpu("pass"), cpu("import rules_core")
    print(f"bare interpreter            {bare:7.1f} ms")
    print(f"import rules_core           {full:7.1f} ms   (+{full - bare:.1f} ms)")
    known = bare_modules()
    costs = [(name, cost) for name, cost in modules() if name not in known]
    ours = sum(cost for name, cost in costs if name.split(".")[0] in PREFIXES)
    print(f"our own modules             {ours:7.1f} ms")
    print("\nthe ten dearest modules, own time in ms")
    for name, cost in costs[:10]:
        print(f"{cost:8.2f}  {name}")


if __name__ == "__main__":
    main()
