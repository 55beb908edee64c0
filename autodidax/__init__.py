"""autodidax: JAX's composable function transforms on plain NumPy.

>>> import numpy as np
>>> import autodidax
>>> autodidax.grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
array([1., 1.])
"""

from __future__ import annotations

import importlib
from typing import Any

from autodidax import errors, lax, numpy, scipy, tree, tree_util
from autodidax.config import config, debug_infs, debug_nans, disable_jit
from autodidax.control_flow.closure_conversion import closure_convert
from autodidax.control_flow.loops import map
from autodidax.core import jaxpr
from autodidax.core.avals import ShapeDtypeStruct, float0
from autodidax.core.interpreters import get_aval as typeof
from autodidax.core.jaxpr import eval_jaxpr
from autodidax.core.primitive import Primitive, linear, multilinear, pointwise, registry, sample
from autodidax.numpy.array_type import Array
from autodidax.transforms.callbacks import io_callback, pure_callback
from autodidax.transforms.checkpoint import checkpoint
from autodidax.transforms.custom_rules import custom_jvp, custom_vjp
from autodidax.transforms.derivatives import jvp, linear_transpose, linearize, vjp
from autodidax.transforms.devices import block_until_ready, device_get, device_put
from autodidax.transforms.from_function import primitive_from
from autodidax.transforms.gradients import elementwise_grad, grad, hvp, value_and_grad
from autodidax.transforms.jacobians import hessian, jacfwd, jacobian, jacrev
from autodidax.transforms.jit import jit
from autodidax.transforms.names import checkpoint_name, named_call, named_scope
from autodidax.transforms.staging import eval_shape, make_jaxpr
from autodidax.transforms.stop_gradient import stop_gradient
from autodidax.transforms.vmap import vmap
from autodidax.version import __version__

remat = checkpoint

__all__ = [
    "Array", "Primitive", "ShapeDtypeStruct", "__version__", "block_until_ready", "checkpoint", "checkpoint_name",
    "closure_convert", "config", "custom_jvp", "custom_vjp", "debug_infs", "debug_nans", "device_get", "device_put",
    "disable_jit", "elementwise_grad", "errors", "eval_jaxpr", "eval_shape", "float0", "grad", "hessian", "hvp",
    "io_callback", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "lax", "linear", "linear_transpose", "linearize",
    "make_jaxpr", "multilinear", "named_call", "named_scope", "pointwise", "primitive_from", "pure_callback",
    "registry", "remat", "sample", "stop_gradient", "tree", "tree_util", "typeof", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
# what loads when it is first named: module, or (module, name)
_LATER: dict[str, Any] = {
    "ad_checkpoint": ("autodidax.ad_checkpoint", None),
    "checkpoint_policies": ("autodidax.transforms.checkpoint_policies", None),
    "debug": ("autodidax.debug", None),
    "export": ("autodidax.export", None),
    "random": ("autodidax.random", None),
    "nn": ("autodidax.nn", None),
    "test_util": ("autodidax.test_util", None),
    "flatten_util": ("autodidax.flatten_util", None),
    "testing": ("autodidax.testing", None),
    "check_grads": ("autodidax.test_util", "check_grads"),
    "check_jvp": ("autodidax.test_util", "check_jvp"),
    "check_vjp": ("autodidax.test_util", "check_vjp"),
}
jaxpr.reducer = lambda program: __getattr__("export").exported.reduced(program)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'autodidax' has no attribute {name!r}")
    module, attribute = _LATER[name]
    loaded = importlib.import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER})
