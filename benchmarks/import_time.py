"""What `import rules_core` costs beyond a bare interpreter, and which part is ours.

Run: `.venv/bin/python benchmarks/import_time.py`. Prints minima over fresh processes.
"""

import os
import subprocess
import sys
import time

RUNS = 15
PREFIXES = ("rules_core",)

# Users' interpreters keep bytecode; where that is switched off every run compiles.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def wall(code: str) -> float:
    """Milliseconds of the quickest of RUNS fresh interpreters that run `code`."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


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
    bare, full = wall("pass"), wall("import rules_core")
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
