"""The names of jax.lax: functions without NumPy's conveniences, control flow, collectives.

Dtypes are NumPy's: operands of different dtypes promote, and Python scalars are taken. What rests on SciPy loads on
first use.
"""

from __future__ import annotations

from typing import Any

from numpy import broadcast_shapes, empty

from autodidax import scipy as _scipy
from autodidax.control_flow.cond import cond, switch
from autodidax.control_flow.loops import fori_loop, map, scan, while_loop
from autodidax.control_flow.solves import custom_linear_solve, custom_root, fixed_point
from autodidax.lax.arithmetic import (
    RoundingMethod,
    clamp,
    clz,
    complex,
    convert_element_type,
    div,
    integer_pow,
    population_count,
    round,
    rsqrt,
    select,
    select_n,
    shift_right_arithmetic,
    shift_right_logical,
)
from autodidax.lax.contraction import (
    ConvDimensionNumbers,
    Precision,
    batch_matmul,
    conv,
    conv_dimension_numbers,
    conv_general_dilated,
    conv_with_general_padding,
    dot,
    dot_general,
)
from autodidax.lax.environment import all_gather, optimization_barrier, platform_dependent, ppermute
from autodidax.lax.fourier import FftType, fft
from autodidax.lax.reducing import (
    argmax,
    argmin,
    associative_scan,
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    padtype_to_pads,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_window,
    reduce_xor,
    sort,
    sort_key_val,
    top_k,
)
from autodidax.lax.structure import (
    broadcast,
    broadcast_in_dim,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    concatenate,
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    expand_dims,
    full,
    full_like,
    index_in_dim,
    iota,
    pad,
    reshape,
    rev,
    slice,
    slice_in_dim,
    split,
    squeeze,
    stack,
    tile,
    transpose,
    unstack,
)
from autodidax.numpy.dtypes import result_type as dtype
from autodidax.numpy.elementwise import (
    absolute as abs,
)
from autodidax.numpy.elementwise import (
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    cbrt,
    ceil,
    conj,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    floor,
    imag,
    log,
    log1p,
    nextafter,
    real,
    reciprocal,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from autodidax.numpy.elementwise import (
    equal as eq,
)
from autodidax.numpy.elementwise import (
    fmod as rem,
)
from autodidax.numpy.elementwise import (
    greater as gt,
)
from autodidax.numpy.elementwise import (
    greater_equal as ge,
)
from autodidax.numpy.elementwise import (
    isfinite as is_finite,
)
from autodidax.numpy.elementwise import (
    left_shift as shift_left,
)
from autodidax.numpy.elementwise import (
    less as lt,
)
from autodidax.numpy.elementwise import (
    less_equal as le,
)
from autodidax.numpy.elementwise import (
    maximum as max,
)
from autodidax.numpy.elementwise import (
    minimum as min,
)
from autodidax.numpy.elementwise import (
    multiply as mul,
)
from autodidax.numpy.elementwise import (
    negative as neg,
)
from autodidax.numpy.elementwise import (
    not_equal as ne,
)
from autodidax.numpy.elementwise import (
    power as pow,
)
from autodidax.numpy.elementwise import (
    subtract as sub,
)
from autodidax.transforms.collectives import axis_index, axis_size, pmax, pmean, pmin, psum
from autodidax.transforms.stop_gradient import stop_gradient

# name in lax -> name in scipy.special
_SPECIAL = {
    "bessel_i0e": "i0e",
    "bessel_i1e": "i1e",
    "betainc": "betainc",
    "digamma": "digamma",
    "erf": "erf",
    "erf_inv": "erfinv",
    "erfc": "erfc",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "lgamma": "gammaln",
    "logistic": "expit",
    "polygamma": "polygamma",
    "zeta": "zeta",
}


def __getattr__(name: str) -> Any:
    if name in _SPECIAL and hasattr(_scipy.special, _SPECIAL[name]):
        return getattr(_scipy.special, _SPECIAL[name])
    raise AttributeError(
        f"module 'autodidax.lax' has no attribute {name!r}; notes/limits.md lists the names of jax.lax that are missing"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_SPECIAL})


__all__ = [
    "ConvDimensionNumbers", "FftType", "Precision", "RoundingMethod", "abs", "acos", "acosh", "add", "all_gather",
    "argmax", "argmin", "asin", "asinh", "associative_scan", "atan", "atan2", "atanh", "axis_index", "axis_size",
    "batch_matmul", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast", "broadcast_in_dim",
    "broadcast_shapes", "broadcast_to_rank", "broadcasted_iota", "cbrt", "ceil", "clamp", "clz", "collapse", "complex",
    "concatenate", "cond", "conj", "conv", "conv_dimension_numbers", "conv_general_dilated",
    "conv_with_general_padding", "convert_element_type", "cos", "cosh", "cumlogsumexp", "cummax", "cummin", "cumprod",
    "cumsum", "custom_linear_solve", "custom_root", "div", "dot", "dot_general", "dtype", "dynamic_index_in_dim",
    "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "empty", "eq", "exp", "exp2", "expand_dims", "expm1", "fft", "fixed_point", "floor",
    "fori_loop", "full", "full_like", "ge", "gt", "imag", "index_in_dim", "integer_pow", "iota", "is_finite", "le",
    "log", "log1p", "lt", "map", "max", "min", "mul", "ne", "neg", "nextafter", "optimization_barrier", "pad",
    "padtype_to_pads", "platform_dependent", "pmax", "pmean", "pmin", "population_count", "pow", "ppermute", "psum",
    "real", "reciprocal", "reduce", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum",
    "reduce_window", "reduce_xor", "rem", "reshape", "rev", "round", "rsqrt", "scan", "select", "select_n",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "slice", "slice_in_dim",
    "sort", "sort_key_val", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "sub", "switch", "tan",
    "tanh", "tile", "top_k", "transpose", "unstack", "while_loop",
]  # fmt: skip
