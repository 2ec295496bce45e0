"""The commands and their options."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rules_core._base.errors import RulesCoreError
from rules_core._base.shown import lines_of_table
from rules_core._dispatch.packs import Packs
from rules_core._dispatch.registry import PACKS, rules

from .bench import bench
from .completion import SCRIPTS, candidates
from .coverage import coverage
from .doctor import doctor
from .listing import chosen_rules, explanation, load_all, rules_of
from .subject import CommandError, find_function, find_module, read_arguments

__all__ = ["main"]

# Modules with functions of the installed packs, for `coverage` without a module.
COVERED = (
    "math", "numpy", "numpy.linalg", "numpy.fft",
    "scipy.special", "scipy.linalg", "scipy.fft",
)  # fmt: skip
COLUMNS = ("function", "reverse", "forward", "rules of", "calls")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if a check failed, 2 for a wrong command."""
    parser, commands = _parsers()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["complete"]:  # asked by completion scripts
        command, word = (*given[1:], "", "")[:2]
        _write("\n".join(candidates(commands, command, word)))
        return 0
    options = parser.parse_args(given)
    try:
        return int(options.run(options))
    except (CommandError, RulesCoreError) as error:
        sys.stderr.write(f"rules-core: {error}\n")
        return 2
    except BrokenPipeError:  # as of `| head`
        sys.stderr.close()
        return 0


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


Parsers = tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]


def _parsers() -> Parsers:
    parser = argparse.ArgumentParser(
        prog="rules-core", description="Look at, check and time derivative rules."
    )
    subparsers = parser.add_subparsers(required=True, metavar="command")
    commands: dict[str, argparse.ArgumentParser] = {}

    def add(name: str, run: Callable[[Any], int], what: str) -> Any:
        command = subparsers.add_parser(name, help=what, description=f"{what}.")
        command.set_defaults(run=run)
        commands[name] = command
        return command

    add("doctor", _doctor, "Show versions, frameworks, packs, and what needs repair")
    command = add("rules", _rules, "List rules, those of all packs included")
    command.add_argument("pattern", nargs="?", help="text of a name, or a* pattern")
    command.add_argument("--module", help="module of the functions: scipy.special")
    command.add_argument("--mode", choices=("rrule", "frule"))
    command = add("explain", _explain, "Say which rules a call uses, and why")
    _add_function(command)
    command.add_argument("args", nargs="*", help="as in Python; none: all rules")
    command = add("check", _check, "Check the rules of a function at arguments")
    _add_function(command)
    _add_args(command)
    command.add_argument("--level", choices=("quick", "full"), default="quick")
    command.add_argument(
        "--hosts", metavar="NAMES", help="of frameworks, with commas; or none"
    )
    command.add_argument("--skip", action="append", default=[], metavar="CHECK")
    command = add("coverage", _coverage, "Say which functions of modules have rules")
    command.add_argument("module", nargs="*", help="such as numpy.linalg")
    command.add_argument("--json", action="store_true")
    command = add("bench", _bench, "Time a function and its rules")
    _add_function(command)
    _add_args(command)
    command.add_argument("--seconds", type=float, default=0.5, help="for each line")
    command = add("completion", _completion, "Print a script for completion")
    command.add_argument("shell", choices=tuple(SCRIPTS))
    return parser, commands


def _add_function(command: argparse.ArgumentParser) -> None:
    command.add_argument("function", help="module:name, such as scipy.special:kv")


def _add_args(command: argparse.ArgumentParser) -> None:
    command.add_argument("--args", default="", help="as in Python: '1.0, np.ones(3)'")


def _doctor(_options: Any) -> int:
    return doctor(_write)


def _rules(options: Any) -> int:
    load_all()
    found = chosen_rules(rules(), options.pattern, options.module, options.mode)
    _write(repr(found))
    return 0 if found else 1


def _call(options: Any, text: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    f = find_function(options.function)
    args, kwargs = read_arguments(text, options.function.partition(":")[0])
    return f, args, kwargs


def _explain(options: Any) -> int:
    f, args, kwargs = _call(options, ", ".join(options.args))
    _write(explanation(f, args, kwargs) if options.args else repr(rules_of(f)))
    return 0


def _check(options: Any) -> int:
    from rules_core.testing import CheckCallError, CheckFailed, check_rule
    from rules_core.testing._report import WATCHERS

    f, args, kwargs = _call(options, options.args)
    chosen = options.hosts
    hosts = None if chosen is None else [n for n in chosen.split(",") if n != "none"]
    settings = {"level": options.level, "hosts": hosts, "skip": options.skip}
    done = _Progress()
    WATCHERS.append(done)
    try:
        report = check_rule(f, *args, fkwargs=kwargs, **settings)
    except CheckFailed as failed:
        done.end()
        _write(str(failed.report))
        _write(f"\n{failed}")
        return 1
    except CheckCallError as error:
        raise CommandError(str(error)) from error
    finally:
        done.end()
        WATCHERS.remove(done)
    _write(str(report))
    return 0


class _Progress:
    """A line on a terminal that counts checks."""

    def __init__(self) -> None:
        self.count, self.on = 0, sys.stderr.isatty()

    def __call__(self, check: Any) -> None:
        self.count += 1
        if self.on:
            sys.stderr.write(
                f"\r\033[K{self.count} checks, {check.name}: {check.status}"
            )
            sys.stderr.flush()

    def end(self) -> None:
        """Wipe the line."""
        if self.on:
            sys.stderr.write("\r\033[K")
        self.on = False


def _coverage(options: Any) -> int:
    found = {name: coverage(find_module(name)) for name in _modules(options.module)}
    if options.json:
        _write(json.dumps(found, indent=2))
        return 0
    for name, entries in found.items():
        rows = [tuple(str(value or "-") for value in e.values()) for e in entries]
        for line in lines_of_table(rows, COLUMNS):
            _write(line)
        served = sum(entry["pack"] is not None for entry in entries)
        _write(f"{name}: {served} of {len(entries)} functions have rules\n")
    return 0


def _modules(given: list[str]) -> list[str]:
    if given:
        return given
    packs: Packs = PACKS
    return [name for name in COVERED if name.partition(".")[0] in packs.names()]


def _bench(options: Any) -> int:
    f, args, kwargs = _call(options, options.args)
    try:
        f(*args, **kwargs)
    except Exception as error:
        message = f"{options.function} does not take these arguments: {error}"
        raise CommandError(message) from error
    for line in lines_of_table(list(bench(f, args, kwargs, options.seconds))):
        _write(line)
    return 0


def _completion(options: Any) -> int:
    _write(SCRIPTS[options.shell].rstrip())
    return 0
