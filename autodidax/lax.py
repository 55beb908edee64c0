"""The names of jax.lax: primitives without NumPy's conveniences, control flow, collectives."""

from __future__ import annotations

from autodidax.control_flow.cond import cond, switch
from autodidax.control_flow.loops import fori_loop, map, scan, while_loop
from autodidax.primitives.comparison import equal as eq
from autodidax.primitives.comparison import greater as gt
from autodidax.primitives.comparison import greater_equal as ge
from autodidax.primitives.comparison import less as lt
from autodidax.primitives.comparison import less_equal as le
from autodidax.primitives.comparison import not_equal as ne
from autodidax.primitives.convert import astype as convert_element_type
from autodidax.primitives.convert import conj, imag, real
from autodidax.primitives.elementwise import absolute as abs
from autodidax.primitives.elementwise import add, cos, exp, integer_pow, log, sign, sin, sqrt, square, tanh
from autodidax.primitives.elementwise import arctan2 as atan2
from autodidax.primitives.elementwise import divide as div
from autodidax.primitives.elementwise import maximum as max
from autodidax.primitives.elementwise import minimum as min
from autodidax.primitives.elementwise import multiply as mul
from autodidax.primitives.elementwise import negative as neg
from autodidax.primitives.elementwise import power as pow
from autodidax.primitives.elementwise import subtract as sub
from autodidax.primitives.select import where as select
from autodidax.transforms.collectives import axis_index, axis_size, pmax, pmean, pmin, psum
from autodidax.transforms.stop_gradient import stop_gradient

__all__ = [
    "abs", "add", "atan2", "axis_index", "axis_size", "cond", "conj", "convert_element_type", "cos", "div", "eq", "exp",
    "fori_loop", "ge", "gt", "imag", "integer_pow", "le", "log", "lt", "map", "max", "min", "mul", "ne", "neg", "pmax",
    "pmean", "pmin", "pow", "psum", "real", "scan", "select", "sign", "sin", "sqrt", "square", "stop_gradient", "sub",
    "switch", "tanh", "while_loop",
]  # fmt: skip
