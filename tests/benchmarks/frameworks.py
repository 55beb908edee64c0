"""What each framework makes of a workload. A framework that cannot be imported is left out of the run."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy

from tests.benchmarks.workloads import Workload

Run = Callable[[], Any]
_NAMES = (
    "exp", "log", "sin", "cos", "tanh", "sqrt", "where", "sum", "reshape", "swapaxes", "stack", "matmul", "diagonal",
)  # fmt: skip


def _namespace(module: Any, **others: Any) -> Any:
    return types.SimpleNamespace(**{name: getattr(module, name) for name in _NAMES if hasattr(module, name)} | others)


class Framework:
    """A namespace to write in, and the transforms; `run` gives a workload's computation of one kind, ready to time."""

    def __init__(self, namespace: Any, array: Callable[[Any], Any], transforms: dict[str, Callable[..., Any]]):
        self.namespace = namespace
        self.array = array
        self.transforms = transforms

    def run(self, workload: Workload, kind: str) -> Run | None:
        """The computation as a function of no arguments, or None where the framework lacks the transform."""
        transform = self.transforms.get(kind)
        if transform is None:
            return None
        arguments = [self.array(a) for a in workload.arguments()]

        def function(*args: Any) -> Any:
            return workload.function(self.namespace, *args)

        computed = transform(function, workload.differentiated)
        return lambda: computed(*arguments)


def _autodidax_transforms(namespace: Any, compile: Callable[[Any], Any]) -> dict[str, Any]:
    ad = importlib.import_module("autodidax")

    def nested(order: int) -> Callable[..., Any]:
        def transform(f: Any, n: int) -> Any:
            for _ in range(order):
                f = ad.grad(lambda x, f=f: namespace.sum(f(x)))
            return compile(f)

        return transform

    def jvp(f: Any, n: int) -> Any:
        return compile(lambda x: ad.jvp(f, (x,), (numpy.ones_like(x),)))

    return {
        "function": lambda f, n: compile(f),
        "value and gradient": lambda f, n: compile(ad.value_and_grad(f, argnums=tuple(range(n)))),
        "jvp": jvp,
        "second order": nested(2),
        "third order": nested(3),
        "vmap of grad": lambda f, n: compile(ad.vmap(ad.grad(f), in_axes=(None, 0))),
        "Hessian": lambda f, n: compile(ad.hessian(f)),
    }


def autodidax() -> Framework:
    anp = importlib.import_module("autodidax.numpy")
    linalg = importlib.import_module("autodidax.scipy.linalg")
    namespace = _namespace(
        anp, cholesky=anp.linalg.cholesky, solve_lower=lambda a, b: linalg.solve_triangular(a, b, lower=True)
    )
    return Framework(namespace, numpy.asarray, _autodidax_transforms(namespace, lambda f: f))


def autodidax_on_numpy() -> Framework:
    """The same code written with NumPy's own functions."""
    linalg = importlib.import_module("autodidax.scipy.linalg")
    namespace = _namespace(
        numpy, cholesky=numpy.linalg.cholesky, solve_lower=lambda a, b: linalg.solve_triangular(a, b, lower=True)
    )
    return Framework(namespace, numpy.asarray, _autodidax_transforms(namespace, lambda f: f))


def autodidax_jit() -> Framework:
    namespace = autodidax().namespace
    return Framework(
        namespace, numpy.asarray, _autodidax_transforms(namespace, importlib.import_module("autodidax").jit)
    )


def autograd() -> Framework:
    ag = importlib.import_module("autograd")
    anp = importlib.import_module("autograd.numpy")
    linalg = importlib.import_module("autograd.scipy.linalg")

    def diagonal(a: Any) -> Any:
        i = numpy.arange(a.shape[0])
        return a[i, i]

    def nested(order: int) -> Callable[..., Any]:
        def transform(f: Any, n: int) -> Any:
            for _ in range(order):
                f = ag.elementwise_grad(f)
            return f

        return transform

    def vmap_of_grad(f: Any, n: int) -> Any:  # it has no vmap: a Python loop over the rows
        g = ag.grad(f)
        return lambda w, rows: numpy.stack([g(w, row) for row in rows])

    return Framework(
        _namespace(
            anp,
            cholesky=anp.linalg.cholesky,
            solve_lower=lambda a, b: linalg.solve_triangular(a, b, lower=True),
            diagonal=diagonal,
        ),
        numpy.asarray,
        {
            "function": lambda f, n: f,
            "value and gradient": lambda f, n: ag.value_and_grad(f, argnum=list(range(n))),
            "jvp": lambda f, n: lambda x: ag.make_jvp(f)(x)(numpy.ones_like(x)),
            "second order": nested(2),
            "third order": nested(3),
            "vmap of grad": vmap_of_grad,
            "Hessian": lambda f, n: ag.hessian(f),
        },
    )


def torch() -> Framework:
    torch = importlib.import_module("torch")
    forward = importlib.import_module("torch.autograd.forward_ad")
    torch.set_num_threads(1)

    def total(x: Any, axis: Any = None) -> Any:
        return torch.sum(x) if axis is None else torch.sum(x, axis)

    def function(f: Any, n: int) -> Any:
        def run(*args: Any) -> Any:
            with torch.no_grad():
                return f(*args)

        return run

    def value_and_gradient(f: Any, n: int) -> Any:
        def run(*args: Any) -> Any:
            leaves = [a.detach().requires_grad_() for a in args[:n]]
            y = f(*leaves, *args[n:])
            return y.detach(), torch.autograd.grad(y, leaves)

        return run

    def jvp(f: Any, n: int) -> Any:
        def run(x: Any) -> Any:
            with torch.no_grad(), forward.dual_level():
                return forward.unpack_dual(f(forward.make_dual(x, torch.ones_like(x))))

        return run

    def nested(order: int) -> Callable[..., Any]:
        def transform(f: Any, n: int) -> Any:
            def run(x: Any) -> Any:
                x = x.detach().requires_grad_()
                y = f(x)
                for k in range(order, 0, -1):
                    (y,) = torch.autograd.grad(y.sum(), x, create_graph=k > 1)
                return y

            return run

        return transform

    return Framework(
        _namespace(
            torch,
            sum=total,
            cholesky=torch.linalg.cholesky,
            solve_lower=lambda a, b: torch.linalg.solve_triangular(a, b[:, None], upper=False)[:, 0],
        ),
        torch.tensor,
        {
            "function": function,
            "value and gradient": value_and_gradient,
            "jvp": jvp,
            "second order": nested(2),
            "third order": nested(3),
            "vmap of grad": lambda f, n: torch.func.vmap(torch.func.grad(f), in_dims=(None, 0)),
            "Hessian": lambda f, n: lambda x: torch.autograd.functional.hessian(f, x, vectorize=True),
        },
    )


def jax_jit() -> Framework:
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
    linalg = importlib.import_module("jax.scipy.linalg")
    jax.config.update("jax_enable_x64", True)

    def staged(f: Any) -> Any:
        compiled = jax.jit(f)
        return lambda *args: jax.block_until_ready(compiled(*args))

    def nested(order: int) -> Callable[..., Any]:
        def transform(f: Any, n: int) -> Any:
            for _ in range(order):
                f = jax.grad(lambda x, f=f: jnp.sum(f(x)))
            return staged(f)

        return transform

    return Framework(
        _namespace(
            jnp, cholesky=jnp.linalg.cholesky, solve_lower=lambda a, b: linalg.solve_triangular(a, b, lower=True)
        ),
        jnp.asarray,
        {
            "function": lambda f, n: staged(f),
            "value and gradient": lambda f, n: staged(jax.value_and_grad(f, argnums=tuple(range(n)))),
            "jvp": lambda f, n: staged(lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))),
            "second order": nested(2),
            "third order": nested(3),
            "vmap of grad": lambda f, n: staged(jax.vmap(jax.grad(f), in_axes=(None, 0))),
            "Hessian": lambda f, n: staged(jax.hessian(f)),
        },
    )


# name -> (what must be importable, maker)
FRAMEWORKS: dict[str, tuple[str, Callable[[], Framework]]] = {
    "autodidax": ("autodidax", autodidax),
    "autodidax on np": ("autodidax", autodidax_on_numpy),
    "autodidax jit": ("autodidax", autodidax_jit),
    "autograd": ("autograd", autograd),
    "torch": ("torch", torch),
    "jax jit": ("jax", jax_jit),
}
