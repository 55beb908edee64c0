"""The draws whose numbers are recorded: name -> function of a module like jax.random, a key and a dtype.

The parameters are NumPy arrays of that dtype, so that the same function serves for recording and for the tests.
"""

import numpy as np

SEED = 1729
A = (0.02, 0.3, 0.9, 1.0, 2.5, 30.0, 1500.0)
LOGITS = ((0.1, -1.0, 2.0), (0.5, 0.0, -3.0))
CHANCES = (0.1, 0.25, 0.05, 0.6)
COVARIANCE = ((2.0, 0.5, 0.1), (0.5, 1.0, 0.3), (0.1, 0.3, 0.7))


def _wide(dtype, *shape):
    return np.linspace(0.1, 5.0, int(np.prod(shape))).reshape(shape).astype(dtype)


#: drawn in float64 and in float32
FLOATS = {
    "uniform": lambda r, k, d: r.uniform(k, (3, 5), d),
    "uniform scalar": lambda r, k, d: r.uniform(k, (), d),
    "uniform long": lambda r, k, d: r.uniform(k, (700,), d),
    "uniform between": lambda r, k, d: r.uniform(k, (2, 40), d, np.array([[-3.0], [2.0]], d), np.asarray(5.5, d)),
    "normal": lambda r, k, d: r.normal(k, (3, 100), d),
    "exponential": lambda r, k, d: r.exponential(k, (50,), d),
    "gumbel": lambda r, k, d: r.gumbel(k, (50,), d),
    "gumbel high": lambda r, k, d: r.gumbel(k, (50,), d, mode="high"),
    "gumbel highest": lambda r, k, d: r.gumbel(k, (50,), d, mode="highest"),
    "laplace": lambda r, k, d: r.laplace(k, (50,), d),
    "logistic": lambda r, k, d: r.logistic(k, (50,), d),
    "cauchy": lambda r, k, d: r.cauchy(k, (50,), d),
    "pareto": lambda r, k, d: r.pareto(k, np.array([0.5, 3.0], d), (25, 2), d),
    "rayleigh": lambda r, k, d: r.rayleigh(k, np.array([0.5, 3.0], d), (25, 2), d),
    "weibull_min": lambda r, k, d: r.weibull_min(k, np.asarray(2.0, d), np.asarray(0.7, d), (50,), d),
    "triangular": lambda r, k, d: r.triangular(k, *np.array([-1.0, 0.5, 2.0], d), (50,), d),
    "wald": lambda r, k, d: r.wald(k, np.array([0.5, 3.0], d), (25, 2), d),
    "maxwell": lambda r, k, d: r.maxwell(k, (50,), d),
    "double_sided_maxwell": lambda r, k, d: r.double_sided_maxwell(k, np.asarray(1.0, d), np.asarray(2.0, d), (50,), d),
    "double_sided_maxwell of arrays": lambda r, k, d: r.double_sided_maxwell(
        k, np.array([1.0, 2.0], d), np.asarray(2.0, d), (), d
    ),
    "lognormal": lambda r, k, d: r.lognormal(k, np.asarray(0.5, d), (50,), d),
    "truncated_normal": lambda r, k, d: r.truncated_normal(k, np.array([-0.5, 1.0], d), np.asarray(2.0, d), (25, 2), d),
    "multivariate_normal": lambda r, k, d: r.multivariate_normal(
        k, np.array([1.0, 2.0, 3.0], d), np.array(COVARIANCE, d), (7,), d
    ),
    "multivariate_normal eigh": lambda r, k, d: np.abs(
        np.asarray(r.multivariate_normal(k, np.zeros(3, d), np.diag(np.array([1.0, 2.0, 4.0], d)), (7,), d, "eigh"))
    ),
    "orthogonal": lambda r, k, d: r.orthogonal(k, 3, (2,), d),
    "orthogonal wide": lambda r, k, d: r.orthogonal(k, 2, (), d, 4),
    "ball": lambda r, k, d: r.ball(k, 3, 1.5, (10,), d),
    "generalized_normal": lambda r, k, d: r.generalized_normal(k, np.asarray(1.5, d), (50,), d),
    "gamma": lambda r, k, d: r.gamma(k, np.array(A, d), (30, len(A)), d),
    "gamma scalar": lambda r, k, d: r.gamma(k, np.asarray(0.7, d), None, d),
    "loggamma": lambda r, k, d: r.loggamma(k, np.array(A, d), (30, len(A)), d),
    "beta": lambda r, k, d: r.beta(k, np.array([0.3, 2.0, 7.0], d), np.array([0.2, 3.0, 1.0], d), (20, 3), d),
    "dirichlet": lambda r, k, d: r.dirichlet(k, np.array([0.1, 1.0, 3.0], d), (20,), d),
    "chisquare": lambda r, k, d: r.chisquare(k, np.array([0.5, 3.0, 40.0], d), (20, 3), d),
    "t": lambda r, k, d: r.t(k, np.array([0.5, 3.0, 40.0], d), (20, 3), d),
    "f": lambda r, k, d: r.f(k, np.array([3.0, 40.0], d), np.array([5.0, 7.0], d), None, d),
    "binomial": lambda r, k, d: r.binomial(
        k, np.array([3.0, 20.0, 100.0, 1000.0], d), np.array([0.3, 0.8, 0.45, 0.9], d), (40, 4), d
    ),
    "binomial impossible": lambda r, k, d: r.binomial(
        k, np.array([-1.0, 3.0, 3.0, np.nan, np.inf, 5.0, 5.0], d), np.array([0.5, -0.5, 1.5, 0.5, 0.5, 0.0, 1.0], d),
        None, d,
    ),
    "multinomial": lambda r, k, d: r.multinomial(k, np.asarray(50.0, d), np.array(CHANCES, d), shape=(6, 4), dtype=d),
    "bernoulli": lambda r, k, d: r.bernoulli(k, np.array([0.1, 0.7], d), (40, 2)),
    "bernoulli high": lambda r, k, d: r.bernoulli(k, np.array([0.1, 0.7], d), (40, 2), "high"),
    "categorical": lambda r, k, d: r.categorical(k, np.array(LOGITS, d), shape=(30, 2)),
    "categorical axis": lambda r, k, d: r.categorical(k, np.array(LOGITS, d), axis=0),
    "categorical high": lambda r, k, d: r.categorical(k, np.array(LOGITS, d), shape=(30, 2), mode="high"),
    "categorical without replacement": lambda r, k, d: r.categorical(
        k, np.array(LOGITS, d), shape=(3, 2), replace=False
    ),
    "categorical without replacement, axis": lambda r, k, d: r.categorical(
        k, np.array(LOGITS, d), axis=0, shape=(2, 3), replace=False
    ),
    "geometric": lambda r, k, d: r.geometric(k, np.array([0.1, 0.7, 1.0], d), (40, 3)),
    "choice": lambda r, k, d: r.choice(k, _wide(d, 5), (30,)),
    "choice with chances": lambda r, k, d: r.choice(k, _wide(d, 4), (30,), p=np.array(CHANCES, d)),
    "choice without replacement": lambda r, k, d: r.choice(k, _wide(d, 3, 8), (2, 3), False, axis=1),
    "choice with chances without replacement": lambda r, k, d: r.choice(k, 4, (3,), False, np.array(CHANCES, d)),
    "permutation": lambda r, k, d: r.permutation(k, _wide(d, 20)),
    "permutation of rows": lambda r, k, d: r.permutation(k, _wide(d, 7, 3)),
    "permutation independent": lambda r, k, d: r.permutation(k, _wide(d, 3, 7), 1, True),
}  # fmt: skip

#: drawn once
OTHERS = {
    "split": lambda r, k: r.key_data(r.split(k, 5)),
    "split in two axes": lambda r, k: r.key_data(r.split(k, (2, 3))),
    "fold_in": lambda r, k: r.key_data(r.fold_in(k, 123456789)),
    "seed": lambda r, k: np.stack([np.asarray(r.PRNGKey(s)) for s in (0, 7, -1, -(1 << 40), (1 << 62) + 5)]),
    "bits": lambda r, k: r.bits(k, (3, 4)),
    "bits uint32": lambda r, k: r.bits(k, (3, 4), np.uint32),
    "bits uint16": lambda r, k: r.bits(k, (3, 4), np.uint16),
    "bits uint8": lambda r, k: r.bits(k, (), np.uint8),
    "uniform float16": lambda r, k: r.uniform(k, (9,), np.float16),
    "normal complex128": lambda r, k: r.normal(k, (9,), np.complex128),
    "normal complex64": lambda r, k: r.normal(k, (9,), np.complex64),
    "orthogonal complex128": lambda r, k: r.orthogonal(k, 3, (), np.complex128),
    "randint": lambda r, k: r.randint(k, (40,), -3, 1000),
    "randint of arrays": lambda r, k: r.randint(k, (3, 4), np.array([[0], [5], [9]]), np.array([6, 7, 8, 9])),
    "randint int32": lambda r, k: r.randint(k, (40,), 0, 1 << 30, np.int32),
    "randint int8": lambda r, k: r.randint(k, (40,), -128, 128, np.int8),
    "randint uint8": lambda r, k: r.randint(k, (40,), 0, 256, np.uint8),
    "randint uint32": lambda r, k: r.randint(k, (40,), 3, 1 << 32, np.uint32),
    "randint int64, all": lambda r, k: r.randint(k, (5,), -(1 << 63), (1 << 63) - 1),
    "rademacher": lambda r, k: r.rademacher(k, (40,)),
    "rademacher float32": lambda r, k: r.rademacher(k, (40,), np.float32),
    "permutation of a range": lambda r, k: r.permutation(k, 2000),
    "poisson": lambda r, k: r.poisson(k, np.array([0.0, 0.1, 3.0, 9.9, 10.5, 200.0, 5e3]), (40, 7)),
    "poisson impossible": lambda r, k: r.poisson(k, np.array([-1.0, np.nan])),
    "gamma impossible": lambda r, k: r.gamma(k, np.array([-1.0, np.nan, 0.0, np.inf])),
}  # fmt: skip


def all_draws():
    """Name -> function of a module and a key."""
    drawn = dict(OTHERS.items())
    for dtype in (np.float64, np.float32):
        for name, draw in FLOATS.items():
            drawn[f"{name}, {dtype.__name__}"] = lambda r, k, draw=draw, dtype=dtype: draw(r, k, np.dtype(dtype))
    return drawn
