"""Mistakes of authors and users, each a function that makes it."""

import math
from functools import partial
from typing import Any

import jax
import numpy as np
import torch

import rules_core as rc
from rules_autodiff import grad
from rules_core import NoTangent, frule, rrule
from rules_jax import to_jax
from rules_torch import to_torch

MISTAKES: dict[str, Any] = {}


def mistake(make):
    """Add a mistake under its name."""
    MISTAKES[make.__name__] = make
    return make


def square(x):
    return x * x


def scaled(x, factor=2.0):
    return factor * x


def keyed(x, *, scale):
    return scale * x


def partials_of_square(y, x):
    return (2 * x,)


def in_math(x):
    return math.cos(x)


def in_branches(x):
    return x if x > 0 else -x


def in_numpy(x):
    return np.sin(x)


def by_method(x):
    return x.astype(float)


def failing(x):
    message = "not today"
    raise ValueError(message)


def ruled(f, **flags):
    """A primitive of a function, with the rule of `square`."""
    made = rc.primitive(f, **flags)
    rc.scalar_rule(made, partials_of_square)
    return made


def with_rrule(compute):
    """`square` as a primitive whose rrule calls a function."""
    made = rc.primitive(square)

    @rrule.define(square)
    def square_rrule(x):
        slope = compute(x)
        return square(x), lambda dy: (NoTangent(), slope * dy)

    return made


def with_pullback(compute):
    """`square` as a primitive whose pullback calls a function."""
    made = rc.primitive(square)

    @rrule.define(square)
    def square_rrule(x):
        return square(x), lambda dy: (NoTangent(), compute(x) * dy)

    return made


def with_frule(compute):
    """`square` as a primitive whose frule calls a function."""
    made = rc.primitive(square)

    @frule.define(square)
    def square_frule(tangents, x):
        return square(x), compute(x) * tangents[1]

    return made


def torch_grad(f):
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(f(x), x)


TENSOR = torch.tensor(1.5, dtype=torch.float64)

# -- calls of rules


@mistake
def frule_without_tangents():
    frule(square, 1.0)


@mistake
def frule_of_two_arguments_without_tangents():
    frule(scaled, 1.0, 2.0)


@mistake
def frule_as_a_decorator_with_the_function():
    frule(square)


@mistake
def frule_without_anything():
    frule()


@mistake
def rrule_as_a_decorator_with_the_function():
    rrule(square)


@mistake
def rrule_as_a_decorator_of_a_primitive():
    rrule(rc.primitive(square))


@mistake
def rrule_as_a_decorator_where_there_is_a_rule():
    rc.scalar_rule(square, partials_of_square)
    rrule(square)


@mistake
def rrule_unpacked_where_none_applies():
    _y, _pullback = rrule.require(square, 1.0)


@mistake
def rrule_unpacked_where_another_type_applies():
    @rrule.define(square)
    def square_rrule(x: str):
        return x, abs

    rrule.require(square, 1.0)


@mistake
def frule_unpacked_where_none_applies():
    _y, _dy = frule.require((NoTangent(), 1.0), square, 1.0)


@mistake
def rrule_of_a_number():
    rrule(3.0, 1.0)


@mistake
def rrule_with_a_class_for_a_config():
    rrule(rc.RuleConfig, square, 1.0)


@mistake
def one_tangent_too_few():
    rc.scalar_rule(square, partials_of_square)
    frule((1.0,), square, 1.0)


@mistake
def tangents_in_a_list():
    rc.scalar_rule(square, partials_of_square)
    frule([NoTangent(), 1.0], square, 1.0)


@mistake
def explain_of_a_number():
    rc.explain(3.0)


# -- definitions


@mistake
def an_frule_without_tangents():
    @frule.define(square)
    def square_frule(x):
        return x * x, 2 * x


@mistake
def an_rrule_with_too_few_arguments():
    @rrule.define(scaled)
    def scaled_rrule(x):
        return x, abs


@mistake
def an_rrule_without_a_pair():
    rrule.define(square)(lambda x: x)
    rrule(square, 1.0)


@mistake
def an_rrule_that_returns_nothing():
    rrule.define(square)(lambda x: None)
    rrule(square, 1.0)


@mistake
def a_pullback_that_is_a_number():
    rrule.define(square)(lambda x: (x, 2.0))
    rrule.resolve(square, (1.0,)).run()


@mistake
def a_pullback_without_the_function_s_own_cotangent():
    made = rc.primitive(square)
    rrule.define(square)(lambda x: (x * x, lambda dy: 2 * x * dy))
    torch_grad(made)


@mistake
def a_cotangent_of_no_argument():
    made = rc.primitive(square)
    rrule.define(square)(lambda x: (x * x, lambda dy: {"z": 2 * x * dy}))
    torch_grad(made)


@mistake
def an_frule_without_a_pair():
    frule.define(square)(lambda tangents, x: x)
    frule((NoTangent(), 1.0), square, 1.0)


@mistake
def a_typo_in_an_option_of_a_rule():
    rrule.define(square, symbolic_zero=True)


@mistake
def a_config_that_is_an_instance():
    rrule.define(square, config=rc.RuleConfig())


@mistake
def a_rule_for_a_partial():
    rrule.define(partial(scaled, factor=1.0))


@mistake
def a_typo_in_scalar_rule():
    rc.scalar_rule(square, partials_of_square, holomorfic=True)


@mistake
def partials_of_another_function():
    rc.scalar_rule(scaled, partials_of_square)


@mistake
def partials_that_are_a_number():
    rc.scalar_rule(square, 2.0)


@mistake
def partials_both_holomorphic_and_real():
    rc.scalar_rule(square, partials_of_square, holomorphic=True, real_valued=True)


@mistake
def linear_in_an_argument_that_is_not_there():
    rc.linear_rule(square, lambda dy, x: dy, argnums=1)


@mistake
def undefine_what_is_not_defined():
    rrule.undefine(square, int)


# -- primitives


@mistake
def a_typo_in_a_flag():
    rc.primitive(square, elementwize=True)


@mistake
def a_flag_in_the_plural():
    rc.primitive(hosts=True)


@mistake
def a_flag_that_is_like_no_other():
    rc.primitive(square, gpu=True)


@mistake
def a_typo_in_a_flag_of_as_primitive():
    rc.as_primitive(square, vectorised=True)


@mistake
def a_typo_in_a_flag_of_to_jax():
    to_jax(square, static_argname="x")


@mistake
def a_typo_in_a_flag_of_to_torch():
    to_torch(square, auto_cast="keep")


@mistake
def a_mechanism_that_jax_does_not_have():
    to_jax(square, via="custom-vjp")


@mistake
def a_mechanism_that_torch_does_not_have():
    to_torch(square, via="custom_vjp")


@mistake
def a_static_argument_that_is_not_there():
    rc.primitive(square, static_argnames="n")


@mistake
def elementwise_and_vectorized():
    rc.primitive(square, elementwise=True, vectorized=True)


@mistake
def copies_without_host():
    rc.primitive(square, copy_in=True)


@mistake
def a_primitive_of_a_number():
    rc.primitive(3.0)


@mistake
def a_primitive_of_a_static_method():
    rc.primitive(staticmethod(square))


@mistake
def a_primitive_twice_with_other_flags():
    rc.primitive(square, host=True)
    rc.primitive(square, host=False)


@mistake
def a_host_primitive_without_shapes_in_jax():
    jax.jit(ruled(square, host=True))(1.5)


@mistake
def arrays_of_two_frameworks():
    rc.primitive(scaled)(jax.numpy.ones(2), torch.ones(2))


@mistake
def a_keyword_with_a_derivative():
    made = rc.primitive(keyed)
    rrule.define(keyed)(lambda x, *, scale: (x, lambda dy: (NoTangent(), dy)))
    torch_grad(lambda x: made(TENSOR, scale=x))


# -- bodies and rules that a framework cannot run


@mistake
def math_in_a_body_in_jax():
    jax.jit(ruled(in_math))(1.5)


@mistake
def a_branch_in_a_body_in_jax():
    jax.grad(ruled(in_branches))(1.5)


@mistake
def numpy_in_a_body_in_jax():
    jax.grad(ruled(in_numpy))(1.5)


@mistake
def math_in_a_rule_in_jax():
    jax.jit(jax.grad(with_rrule(in_math)))(1.5)


@mistake
def a_branch_in_a_pullback_in_jax():
    jax.jit(jax.grad(with_pullback(in_branches)))(1.5)


@mistake
def numpy_in_a_rule_in_jax():
    jax.jit(jax.grad(with_rrule(in_numpy)))(1.5)


@mistake
def math_in_a_body_in_torch():
    torch_grad(ruled(in_math))


@mistake
def math_in_a_rule_twice_in_torch():
    torch.func.grad(torch.func.grad(with_rrule(in_math)))(TENSOR)


@mistake
def a_branch_in_a_batched_body_in_torch():
    torch.vmap(ruled(in_branches))(torch.ones(2))


@mistake
def numpy_in_a_batched_body_in_torch():
    torch.vmap(ruled(in_numpy))(torch.ones(2))


@mistake
def numpy_in_a_pullback_twice_in_torch():
    torch.func.grad(torch.func.grad(with_pullback(in_numpy)))(TENSOR)


@mistake
def a_method_of_numpy_in_a_body_in_torch():
    torch.vmap(ruled(by_method))(torch.ones(2))


@mistake
def a_method_of_numpy_in_a_rule_in_torch():
    torch_grad(with_rrule(by_method))


@mistake
def a_method_of_numpy_in_a_pullback_in_torch():
    torch.func.grad(with_pullback(by_method))(TENSOR)


@mistake
def a_method_of_numpy_in_a_rule_on_numbers():
    rrule(with_rrule(by_method), 1.5)


# -- exceptions in rules


@mistake
def an_exception_in_an_rrule():
    with_rrule(failing)
    rrule(square, 1.5)
    rrule(square, 1.5)


@mistake
def an_exception_in_an_frule():
    with_frule(failing)
    frule((NoTangent(), 1.0), square, 1.5)


@mistake
def an_exception_in_an_rrule_in_jax():
    jax.grad(with_rrule(failing))(1.5)


@mistake
def an_exception_in_a_pullback_in_jax():
    jax.jit(jax.grad(with_pullback(failing)))(1.5)


@mistake
def an_exception_in_an_frule_in_jax():
    jax.jvp(with_frule(failing), (1.5,), (1.0,))


@mistake
def an_exception_in_an_rrule_in_torch():
    torch_grad(with_rrule(failing))


@mistake
def an_exception_in_a_pullback_in_torch():
    torch_grad(with_pullback(failing))


@mistake
def an_exception_in_an_frule_in_torch():
    torch.func.jvp(with_frule(failing), (TENSOR,), (TENSOR,))


@mistake
def an_exception_in_an_rrule_in_the_engine():
    grad(with_rrule(failing))(1.5)


@mistake
def an_exception_in_a_pullback_in_the_engine():
    grad(with_pullback(failing))(1.5)


@mistake
def an_exception_in_a_compiled_host_function():
    jax.jit(ruled(failing, host=True, elementwise=True))(1.5).block_until_ready()
