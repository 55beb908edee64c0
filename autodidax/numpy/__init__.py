"""NumPy's functions, differentiable, under their own names: `import autodidax.numpy as anp`.

On plain arguments each is NumPy's function itself; on traced ones it is built from the primitives.
"""

from __future__ import annotations

import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any

import numpy as _numpy
from numpy import (
    bool,
    broadcast_shapes,
    diag_indices,
    empty,
    eye,
    fromfunction,
    fromiter,
    identity,
    index_exp,
    indices,
    mgrid,
    ogrid,
    ones,
    s_,
    tri,
    tril_indices,
    triu_indices,
    zeros,
)

from autodidax.numpy import emath, fft, linalg, methods, operators, plain, protocols, ufuncs, windows
from autodidax.numpy.applying import (
    apply_along_axis,
    apply_over_axes,
    insert,
    isfortran,
    packbits,
    piecewise,
    real_if_close,
    sort_complex,
    unpackbits,
)
from autodidax.numpy.array_type import Array as ndarray
from autodidax.numpy.contraction import (
    dot,
    einsum,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    vdot,
    vecdot,
    vecmat,
)
from autodidax.numpy.converting import (
    asarray_chkfinite,
    nditer,
    nested_iters,
    require,
    row_stack,
)
from autodidax.numpy.covariances import corrcoef, cov
from autodidax.numpy.creation import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    astype,
    copy,
    empty_like,
    full,
    full_like,
    geomspace,
    linspace,
    logspace,
    ones_like,
    vander,
    zeros_like,
)
from autodidax.numpy.differences import (
    cross,
    diff,
    ediff1d,
    gradient,
    polyval,
    trapezoid,
)
from autodidax.numpy.dtypes import (
    bool_,
    byte,
    can_cast,
    cdouble,
    clongdouble,
    common_type,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    floating,
    generic,
    half,
    iinfo,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    iscomplexobj,
    isdtype,
    isrealobj,
    isscalar,
    issubdtype,
    longlong,
    min_scalar_type,
    nan,
    ndim,
    newaxis,
    number,
    pi,
    promote_types,
    result_type,
    shape,
    short,
    signedinteger,
    single,
    size,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulonglong,
    unsignedinteger,
    ushort,
)
from autodidax.numpy.elementwise import (
    abs,
    absolute,
    acos,
    acosh,
    add,
    angle,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    around,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_count,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    cbrt,
    ceil,
    clip,
    conj,
    conjugate,
    copysign,
    cos,
    cosh,
    deg2rad,
    degrees,
    divide,
    divmod,
    equal,
    exp,
    exp2,
    expm1,
    fabs,
    fix,
    float_power,
    floor,
    floor_divide,
    fmax,
    fmin,
    fmod,
    frexp,
    gcd,
    greater,
    greater_equal,
    heaviside,
    hypot,
    imag,
    invert,
    isfinite,
    isinf,
    isnan,
    lcm,
    ldexp,
    left_shift,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    modf,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    power,
    rad2deg,
    radians,
    real,
    reciprocal,
    remainder,
    right_shift,
    rint,
    round,
    sign,
    signbit,
    sin,
    sinc,
    sinh,
    spacing,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    true_divide,
    trunc,
)
from autodidax.numpy.grids import (
    c_,
    ix_,
    r_,
)
from autodidax.numpy.histograms import (
    bincount,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from autodidax.numpy.indexing import (
    at,
)
from autodidax.numpy.joining import (
    append,
    array_split,
    block,
    column_stack,
    concat,
    concatenate,
    delete,
    dsplit,
    dstack,
    hsplit,
    hstack,
    meshgrid,
    split,
    stack,
    unstack,
    vsplit,
    vstack,
)
from autodidax.numpy.logic import (
    allclose,
    array_equal,
    array_equiv,
    isclose,
    iscomplex,
    isin,
    isneginf,
    isposinf,
    isreal,
)
from autodidax.numpy.padding import pad
from autodidax.numpy.polynomials import (
    poly,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    roots,
    trim_zeros,
)
from autodidax.numpy.positions import (
    diag_indices_from,
    einsum_path,
    mask_indices,
    ravel_multi_index,
    tril_indices_from,
    triu_indices_from,
    unravel_index,
)
from autodidax.numpy.quantiles import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from autodidax.numpy.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    ptp,
    sum,
)
from autodidax.numpy.selecting import (
    argwhere,
    choose,
    compress,
    extract,
    flatnonzero,
    nan_to_num,
    nonzero,
    select,
    take,
    take_along_axis,
    where,
)
from autodidax.numpy.sets import (
    intersect1d,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from autodidax.numpy.shaping import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_to,
    diag,
    diagflat,
    diagonal,
    expand_dims,
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    permute_dims,
    ravel,
    repeat,
    reshape,
    resize,
    roll,
    rollaxis,
    rot90,
    squeeze,
    swapaxes,
    tile,
    trace,
    transpose,
    tril,
    triu,
)
from autodidax.numpy.signals import (
    convolve,
    correlate,
    i0,
    interp,
    unwrap,
)
from autodidax.numpy.sorting import (
    argpartition,
    argsort,
    digitize,
    lexsort,
    partition,
    searchsorted,
    sort,
)
from autodidax.numpy.statistics import (
    average,
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
    std,
    var,
)
from autodidax.numpy.vectorizing import (
    frompyfunc,
    vectorize,
)
from autodidax.numpy.windows import (
    bartlett,
    blackman,
    hamming,
    hanning,
    kaiser,
)
from autodidax.numpy.writing import (
    copyto,
    fill_diagonal,
    place,
    put,
    put_along_axis,
    putmask,
)

globals().update(plain.names())
_NOT_PUBLIC = {"Any", "annotations"}
_SUBMODULES = {"emath", "fft", "linalg"}
__all__ = [
    name
    for name, value in globals().items()
    if name in _SUBMODULES or not (name[0] == "_" or isinstance(value, _ModuleType) or name in _NOT_PUBLIC)
]


def __getattr__(name: str) -> Any:
    """NumPy's modules, its names that are not here, and the part that loads SciPy."""
    if name == "_scipy_primitives":
        from autodidax.primitives import bessel

        return bessel
    if name in plain.MODULES and hasattr(_numpy, name):
        return getattr(_numpy, name)
    known = "numpy has it, autodidax.numpy does not" if hasattr(_numpy, name) else "neither has numpy"
    raise AttributeError(
        f"module 'autodidax.numpy' has no attribute {name!r}: {known}; notes/coverage.md lists what there is"
    )


def __dir__() -> list[str]:
    return [*__all__, "dtypes", *plain.MODULES]


protocols.install(
    [
        (_numpy, globals()),
        (_numpy.linalg, vars(linalg)),
        (_numpy.fft, vars(fft)),
        (_numpy.emath, vars(emath)),
        (_numpy.lib.stride_tricks, vars(windows)),
    ]
)
ufuncs.load_scipy.append(lambda: __getattr__("_scipy_primitives"))
methods.namespace.append(_sys.modules[__name__])
