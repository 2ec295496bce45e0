"""`rules-core completion`: scripts that complete commands, options and functions."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from pkgutil import iter_modules

__all__ = ["SCRIPTS", "candidates"]

_BASH = """\
_rules_core() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    if [[ "${COMP_WORDS[COMP_CWORD-1]}" == ":" ]]; then
        word="${COMP_WORDS[COMP_CWORD-2]}:$word"
    elif [[ "$word" == ":" ]]; then
        word="${COMP_WORDS[COMP_CWORD-1]}:"
    fi
    COMPREPLY=($(rules-core complete "${COMP_WORDS[1]}" "$word"))
    [[ "$word" == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
    compopt -o nospace
}
complete -F _rules_core rules-core
"""
_ZSH = """\
#compdef rules-core
_rules_core() {
    local -a found
    found=(${(f)"$(rules-core complete "$words[2]" "$words[CURRENT]")"})
    compadd -S '' -- $found
}
compdef _rules_core rules-core
"""
_FISH = """\
complete -c rules-core -f -a \
'(rules-core complete (commandline -opc)[2] (commandline -ct))'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

TAKE_FUNCTIONS = ("explain", "check", "bench")


def candidates(
    commands: dict[str, argparse.ArgumentParser], command: str, word: str
) -> list[str]:
    """The words that may follow what is typed.

    Args:
        commands: The parsers of the commands.
        command: The first word of the line, complete or not.
        word: The word under the cursor.
    """
    if command not in commands:
        words = list(commands)
    elif word.startswith("-"):
        actions = commands[command]._actions  # noqa: SLF001  argparse lists them nowhere else
        words = [option for action in actions for option in action.option_strings]
    elif command in TAKE_FUNCTIONS and ":" in word:
        words = _functions(word.partition(":")[0])
    elif command in (*TAKE_FUNCTIONS, "coverage"):
        words = _modules(word)
    else:
        words = []
    return sorted(found for found in words if found.startswith(word))


def _functions(module: str) -> list[str]:
    with contextlib.suppress(Exception):  # a module that fails has nothing to offer
        found = importlib.import_module(module)
        names = [name for name in dir(found) if callable(getattr(found, name, None))]
        return [f"{module}:{name}" for name in names if not name.startswith("_")]
    return []


def _modules(word: str) -> list[str]:
    package, dot, _ = word.rpartition(".")
    if not dot:
        return [*sys.stdlib_module_names, *(found.name for found in iter_modules())]
    with contextlib.suppress(Exception):
        path = importlib.import_module(package).__path__
        return [f"{package}.{found.name}" for found in iter_modules(path)]
    return []
