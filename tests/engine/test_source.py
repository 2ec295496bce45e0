"""From a function to its own source, and nobody else's."""

import functools
import linecache
import textwrap

import pytest

from rules_autodiff import SourceNotFound, UnsupportedProgram, grad, show
from rules_autodiff._lift.source import definition


def lifted_body(f):
    return show(f).rpartition(": ")[2]


def test_lambdas_on_one_line():
    # The one line is what is told apart.
    # ruff: noqa: PLC3002
    fs = [lambda x: x * 2, lambda x: x * 3, lambda x: (lambda y: y * x)(x)]
    assert [grad(f)(5.0) for f in fs] == [2.0, 3.0, 10.0]
    inner, outer = (lambda c: lambda x: x * c)(7.0), lambda x: x
    assert (grad(inner)(1.0), grad(outer)(1.0)) == (7.0, 1.0)


def test_lambda_in_the_middle_of_an_expression():
    table = {"f": functools.partial(lambda a, b: a * a * b, 3.0),
             "g": (lambda x: x), "h": (lambda x: x ** 3)}  # fmt: skip
    assert grad(table["f"])(2.0) == 9.0
    assert grad(table["h"])(2.0) == 12.0


def test_wrapped_is_not_followed():
    def f(x):
        return x * x

    @functools.wraps(f)
    def wrapper(x):
        return f(x) * 10

    assert grad(wrapper)(1.0) == 20.0


def test_same_name_defined_twice():
    def f(x):
        return x * 2

    first = f

    def f(x):
        return x * 3

    assert (grad(first)(1.0), grad(f)(1.0)) == (2.0, 3.0)


def test_default_of_the_definition_stays():
    made = []
    for c in (2.0, 3.0):

        def f(x, c=c, *, d=[1.0]):  # noqa: B006  it is kept
            return x * c * d[0]

        made.append(f)
    assert [grad(f)(1.0) for f in made] == [2.0, 3.0]


def test_registered_text():
    text = textwrap.dedent(
        """
        def f(x):
            y = x * x
            return y * y
        """
    )
    linecache.cache["<cell>"] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        "<cell>",
    )
    namespace = {}
    exec(compile(text, "<cell>", "exec"), namespace)
    assert grad(namespace["f"])(2.0) == 32.0
    changed = text.replace("y * y", "y * y * y")
    linecache.cache["<cell>"] = (0, None, changed.splitlines(keepends=True), "<cell>")
    namespace = {}
    exec(compile(changed, "<cell>", "exec"), namespace)
    assert grad(namespace["f"])(2.0) == 192.0


def test_code_inside_a_document():
    text = "# Title\n\nSome text:\n\n    >>> def f(x):\n    ...     return x * x\n"
    code = "\n\n\n\ndef f(x):\n    return x * x\n"
    linecache.cache["doc.md"] = (0, None, text.splitlines(keepends=True), "doc.md")
    namespace = {}
    exec(compile(code, "doc.md", "exec"), namespace)
    assert grad(namespace["f"])(2.0) == 4.0


def test_no_source():
    namespace = {}
    exec("def f(x): return x * x", namespace)
    with pytest.raises(
        SourceNotFound, match=r"must have source code .*<string>, line 1"
    ):
        grad(namespace["f"])(1.0)


def test_edited_source():
    text = "def f(x): return x * x\n"
    linecache.cache["<old>"] = (0, None, ["def g(a, b): pass\n"], "<old>")
    namespace = {}
    exec(compile(text, "<old>", "exec"), namespace)
    with pytest.raises(SourceNotFound, match="Was the file edited"):
        grad(namespace["f"])(1.0)


def test_private_names():
    class Outer:
        class __Inner:
            __rate = 3.0

            def __step(self, x):
                return x * self.__rate

            def run(self, x):
                __local = self.__step(x)
                return __local * x

        def make(self):
            return self.__Inner()

    assert grad(lambda x: Outer().make().run(x))(2.0) == 12.0


def test_definitions_know_their_class():
    class Plain:
        def method(self):
            return self

    assert definition(Plain.method.__code__).owner == "Plain"
    assert definition(test_private_names.__code__).owner is None


@pytest.mark.parametrize("name", ["_ad", "_ad_", "_ad1"])
def test_names_of_the_engine_are_free_for_users(name):
    text = f"def f({name}):\n    a, b[0] = {name}, {name} * 2\n    return a * b[0]\n"
    text = text.replace("a, b[0]", "b = [0]\n    a, b[0]")
    linecache.cache[name] = (0, None, text.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    assert grad(namespace["f"])(3.0) == 12.0


def test_traceback_shows_the_users_line():
    def f(x):
        y = x * 2
        return y / (x - x)  # the line that fails

    with pytest.raises(ZeroDivisionError) as caught:
        grad(f)(1.0)
    lines = [str(entry.statement) for entry in caught.traceback]
    assert any("the line that fails" in line for line in lines)


# what is not supported is an error with file and line


def with_class(x):
    class Inner:
        y = x

    return Inner.y


async def coroutine(x):
    return x


def with_await(x):
    async def inner():
        await x

    return inner


def with_locals(x):
    return locals()["x"]


def with_exec(x):
    exec("y = 1")
    return x


def with_item_target(x):
    items = [0]
    return [1.0 for items[0] in [x]]


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (with_class, "A class statement"),
        (coroutine, "async def"),
        (with_await, "async def"),
        (with_locals, r"locals\(\)"),
        (with_exec, r"exec\(\)"),
        (with_item_target, "A comprehension over"),
    ],
)
def test_unsupported_syntax(f, what):
    with pytest.raises(UnsupportedProgram, match=what + r".*test_source.py, line \d+"):
        grad(f)(1.0)
