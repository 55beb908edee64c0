"""What is measured, and the bars: ratios of two measurements with a limit each."""

from __future__ import annotations

from dataclasses import dataclass

# (workload, kind): the rows of the table of times
ROWS = (
    *((f"chain {shape}", kind) for shape in ("()", "(10,)", "(1000,)") for kind in (
        "function", "value and gradient", "jvp", "second order", "third order"
    )),
    ("Lorenz", "value and gradient"),
    ("small model", "vmap of grad"),
    ("Rosenbrock 100", "Hessian"),
    ("pointwise 1e6", "function"),
    ("pointwise 1e6", "value and gradient"),
    ("GP 300", "function"),
    ("GP 300", "value and gradient"),
)  # fmt: skip

# (framework, workload): left out, with the reason
LEFT_OUT = {("jax jit", "Lorenz"): "XLA takes minutes to compile the unrolled loop"}


@dataclass(frozen=True)
class Bar:
    """The time of (workload, kind, framework) over that of another must not exceed `limit`."""

    workload: str
    kind: str
    against: str
    limit: float
    framework: str = "autodidax"
    against_kind: str = ""

    def __str__(self) -> str:
        of = f"{self.against}'s {self.against_kind}" if self.against_kind else self.against
        return f"{self.workload}, {self.kind}{'' if self.framework == 'autodidax' else f', {self.framework}'}: of {of}"

    @property
    def numerator(self) -> tuple[str, str, str]:
        return self.workload, self.kind, self.framework

    @property
    def denominator(self) -> tuple[str, str, str]:
        return self.workload, self.against_kind or self.kind, self.against


BARS = (
    Bar("chain (10,)", "value and gradient", "autograd", 0.25),
    Bar("chain (10,)", "value and gradient", "torch", 0.5),
    Bar("chain ()", "value and gradient", "autograd", 0.15),
    Bar("chain ()", "value and gradient", "torch", 0.3),
    Bar("chain (10,)", "value and gradient", "autodidax", 1.3, framework="autodidax on np"),
    Bar("chain ()", "value and gradient", "autodidax", 1.3, framework="autodidax on np"),
    Bar("chain (10,)", "second order", "torch", 0.6),
    Bar("chain ()", "second order", "torch", 0.6),
    Bar("chain ()", "third order", "torch", 1.0),
    Bar("chain (10,)", "third order", "torch", 1.0),
    Bar("chain (10,)", "jvp", "autograd", 0.5),
    Bar("chain ()", "jvp", "autograd", 0.5),
    Bar("Lorenz", "value and gradient", "torch", 0.3),
    Bar("small model", "vmap of grad", "torch", 1.0),
    Bar("Rosenbrock 100", "Hessian", "torch", 1.0),
    Bar("pointwise 1e6", "value and gradient", "autodidax", 3.5, against_kind="function"),
    Bar("GP 300", "value and gradient", "autodidax", 4.2, against_kind="function"),
)
OVERHEAD_LIMIT = 0.5  # us, of an autodidax.numpy function on plain arrays over NumPy's own
IMPORT_LIMIT = 60.0  # ms, of importing autodidax beyond importing NumPy
