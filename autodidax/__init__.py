"""JAX-style composable function transforms for plain NumPy."""

from autodidax import errors
from autodidax.config import config
from autodidax.core.avals import Masked, ShapeDtypeStruct, ShapedArray, float0
from autodidax.core.interpreters import Tracer, bind
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from autodidax.core.primitive import Primitive, linear, multilinear, pointwise, registry, sample
from autodidax.transforms.derivatives import jvp, linear_transpose, linearize, vjp
from autodidax.transforms.gradients import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    value_and_grad,
)
from autodidax.transforms.vmap import vmap
from autodidax import numpy
