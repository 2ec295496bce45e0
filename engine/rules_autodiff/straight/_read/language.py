"""The language of the tier: which part of a reader reads which syntax."""

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .reader import Reader

__all__ = ["builtin_readers", "expression_readers", "statement_readers"]

Readers = dict[Any, Callable[..., Any]]


def expression_readers(reader: "Reader") -> Readers:
    """By the class of an expression, what gives its value."""
    expressions = reader.expressions
    return {
        ast.Constant: expressions.read_constant,
        ast.Name: reader.variables.read_name,
        ast.NamedExpr: reader.statements.read_named_expr,
        ast.Tuple: expressions.read_tuple,
        ast.List: expressions.read_list,
        ast.Dict: expressions.read_dict,
        ast.BinOp: expressions.read_bin_op,
        ast.UnaryOp: expressions.read_unary_op,
        ast.Compare: expressions.read_compare,
        ast.BoolOp: expressions.read_bool_op,
        ast.IfExp: expressions.read_if_exp,
        ast.Attribute: reader.known_calls.read_attribute,
        ast.Call: reader.known_calls.read_call,
        ast.Subscript: reader.indexing.read_subscript,
        ast.Lambda: reader.closures.read_lambda,
        ast.ListComp: reader.comprehensions.read_list_comp,
    }


def statement_readers(reader: "Reader") -> Readers:
    """By the class of a statement, what reads it; False where nothing follows it."""
    statements, loops = reader.statements, reader.loops
    return {
        ast.Pass: statements.do_pass,
        ast.Expr: statements.do_expr,
        ast.Assert: statements.do_assert,
        ast.Raise: statements.do_raise,
        ast.Assign: statements.do_assign,
        ast.AnnAssign: statements.do_ann_assign,
        ast.AugAssign: statements.do_aug_assign,
        ast.Delete: statements.do_delete,
        ast.Import: statements.do_import,
        ast.ImportFrom: statements.do_import_from,
        ast.With: statements.do_with,
        ast.Try: statements.do_try,
        ast.If: statements.do_if,
        ast.Return: statements.do_return,
        ast.While: loops.do_while,
        ast.For: loops.do_for,
        ast.Break: loops.do_break,
        ast.Continue: loops.do_continue,
        ast.FunctionDef: reader.closures.do_function_def,
    }


def builtin_readers(reader: "Reader") -> Readers:
    """By the function, what reads its calls; None is the answer where another must."""
    builtins = reader.builtins
    return {
        functools.partial: reader.closures.call_partial,
        sum: reader.comprehensions.call_sum,
        len: builtins.call_len,
        np.ndim: builtins.call_ndim,
        np.isscalar: builtins.call_isscalar,
        getattr: builtins.call_getattr,
        map: builtins.call_map,
        isinstance: builtins.call_isinstance,
        list: builtins.call_list,
        tuple: builtins.call_tuple,
        divmod: builtins.call_divmod,
    }
