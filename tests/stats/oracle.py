"""The distributions in mpmath, and the table of points in the tails: `python -m tests.stats.oracle` records the values.

A row is (distribution, function, arguments, value, first derivatives, second derivatives of each argument twice).
"""

import json
from pathlib import Path

RECORD = Path(__file__).with_name("tails.json")

# distribution: points (x, *shape parameters)
POINTS = {
    "norm": [(-35.0,), (-6.0,), (0.4,), (9.0,), (37.0,)],
    "lognorm": [(1e-9, 0.7), (0.5, 2.0), (1e7, 0.7)],
    "halfnorm": [(1e-7,), (0.5,), (9.0,), (30.0,)],
    "truncnorm": [
        (-0.999, -1.0, 2.0),
        (9.5, 8.0, 20.0),
        (-9.0, -20.0, -8.5),
        (0.1000004, 0.1, 0.100001),
        (6.0, -2.0, 7.0),
    ],
    "expon": [(1e-9,), (2.0,), (600.0,)],
    "weibull_min": [(1e-6, 1.7), (0.5, 0.6), (40.0, 1.7)],
    "rayleigh": [(1e-6,), (1.5,), (30.0,)],
    "pareto": [(1.0000001, 2.5), (3.0, 0.3), (1e9, 2.5)],
    "gumbel_r": [(-5.0,), (0.3,), (40.0,)],
    "gumbel_l": [(-40.0,), (0.3,), (5.0,)],
    "laplace": [(-300.0,), (-0.3,), (0.3,), (40.0,)],
    "logistic": [(-300.0,), (-1e-6,), (0.3,), (300.0,)],
    "uniform": [(0.25,), (0.999,)],
    "cauchy": [(-1e8,), (-0.3,), (1e-8,), (3.0,), (1e12,)],
    "gamma": [(1e-6, 0.4), (0.5, 2.3), (90.0, 2.3), (500.0, 3.0), (900.0, 1000.0), (1250.0, 1000.0)],
    "chi2": [(1e-6, 1.0), (4.0, 3.3), (200.0, 5.0)],
    "gennorm": [(-60.0, 1.3), (-0.4, 0.8), (1e-6, 2.0), (4.0, 2.5)],
    "beta": [(1e-7, 0.6, 3.0), (0.3, 2.0, 5.0), (0.9999, 2.0, 5.0), (0.4, 500.0, 800.0), (0.2, 50.0, 80.0)],
    "f": [(1e-5, 3.0, 5.0), (1.2, 3.2, 5.5), (1e5, 3.0, 5.0)],
    "t": [(-1e4, 3.3), (-8.0, 30.0), (-0.2, 0.7), (1e-6, 4.0), (40.0, 5.0)],
    "vonmises": [(-3.0, 0.5), (-0.4, 2.0), (-1.5, 30.0), (0.05, 200.0), (2.0, 20.0)],
    "poisson": [(0, 3.3), (200, 3.3), (40, 150.0), (1000, 1010.0)],
    "binom": [(0, 10, 0.3), (9, 10, 0.01), (40, 100, 0.45), (4000, 10000, 0.4)],
    "nbinom": [(0, 3.5, 0.4), (300, 3.5, 0.4), (40, 50.0, 0.5)],
    "geom": [(1, 0.3), (300, 0.3), (3, 1e-6)],
    "bernoulli": [(0, 0.3), (1, 1e-9)],
    "betabinom": [(0, 10, 2.3, 0.6), (9, 10, 0.2, 30.0)],
}
CONSTANT = {"poisson": 1, "binom": 2, "nbinom": 1, "geom": 1, "bernoulli": 1, "betabinom": 2}  # arguments without one
FUNCTIONS = ("logpdf", "logcdf", "logsf")


def distributions(mp):
    """name -> (density, distribution function, survival function) of (x, *shape parameters), in mpmath."""
    half = mp.mpf(1) / 2

    def gamma_lower(a, x):
        return mp.gammainc(a, 0, x, regularized=True)

    def gamma_upper(a, x):
        return mp.gammainc(a, x, mp.inf, regularized=True)

    def beta_lower(a, b, x):
        if x > (a + 1) / (a + b + 2):
            return 1 - beta_lower(b, a, 1 - x)
        term = total = x**a * (1 - x) ** b / (a * mp.beta(a, b))
        n = 0
        while abs(term) > mp.eps * abs(total):
            term *= x * (a + b + n) / (a + 1 + n)
            total += term
            n += 1
        return total

    def of_tail(pdf, tail):  # symmetric: tail(x) for x >= 0
        sf = lambda x, *s: tail(x, *s) if x >= 0 else 1 - tail(-x, *s)
        return pdf, lambda x, *s: sf(-x, *s), sf

    def truncated(x, a, b):
        return (mp.ncdf(b) - mp.ncdf(a)) if a < 0 else (mp.ncdf(-a) - mp.ncdf(-b))

    def betabinom(k, n, a, b):
        return mp.binomial(n, k) * mp.beta(k + a, n - k + b) / mp.beta(a, b)

    def arc(x, kappa):
        return mp.quad(lambda u: mp.exp(kappa * mp.cos(u)), [-mp.pi, (x - mp.pi) / 2, x]) / (
            2 * mp.pi * mp.besseli(0, kappa)
        )

    def on_line(mass, low, high=None):  # a distribution on integers by its sums
        cdf = lambda k, *s: mp.fsum(mass(mp.mpf(j), *s) for j in range(low, int(k) + 1))
        if high is None:
            return mass, cdf, lambda k, *s: 1 - cdf(k, *s)
        return mass, cdf, lambda k, *s: mp.fsum(mass(mp.mpf(j), *s) for j in range(int(k) + 1, int(high(*s)) + 1))

    def hazard(pdf, h):
        return pdf, lambda x, *s: -mp.expm1(-h(x, *s)), lambda x, *s: mp.exp(-h(x, *s))

    return {
        "norm": (mp.npdf, mp.ncdf, lambda x: mp.ncdf(-x)),
        "lognorm": (lambda x, s: mp.npdf(mp.log(x) / s) / (s * x), lambda x, s: mp.ncdf(mp.log(x) / s),
                    lambda x, s: mp.ncdf(-mp.log(x) / s)),
        "halfnorm": (lambda x: 2 * mp.npdf(x), lambda x: mp.erf(x / mp.sqrt(2)), lambda x: mp.erfc(x / mp.sqrt(2))),
        "truncnorm": (lambda x, a, b: mp.npdf(x) / truncated(x, a, b),
                      lambda x, a, b: truncated(x, a, x) / truncated(x, a, b),
                      lambda x, a, b: truncated(x, x, b) / truncated(x, a, b)),
        "expon": hazard(lambda x: mp.exp(-x), lambda x: x),
        "weibull_min": hazard(lambda x, c: c * x ** (c - 1) * mp.exp(-(x**c)), lambda x, c: x**c),
        "rayleigh": hazard(lambda x: x * mp.exp(-x * x / 2), lambda x: x * x / 2),
        "pareto": hazard(lambda x, b: b * x ** (-b - 1), lambda x, b: b * mp.log(x)),
        "gumbel_r": (lambda x: mp.exp(-x - mp.exp(-x)), lambda x: mp.exp(-mp.exp(-x)),
                     lambda x: -mp.expm1(-mp.exp(-x))),
        "gumbel_l": (lambda x: mp.exp(x - mp.exp(x)), lambda x: -mp.expm1(-mp.exp(x)), lambda x: mp.exp(-mp.exp(x))),
        "laplace": of_tail(lambda x: mp.exp(-abs(x)) / 2, lambda x: mp.exp(-x) / 2),
        "logistic": (lambda x: 1 / (4 * mp.cosh(x / 2) ** 2), lambda x: 1 / (1 + mp.exp(-x)),
                     lambda x: 1 / (1 + mp.exp(x))),
        "uniform": (lambda x: 1 + 0 * x, lambda x: x, lambda x: 1 - x),
        "cauchy": of_tail(lambda x: 1 / (mp.pi * (1 + x * x)), lambda x: half - mp.atan(x) / mp.pi),
        "gamma": (lambda x, a: x ** (a - 1) * mp.exp(-x) / mp.gamma(a), lambda x, a: gamma_lower(a, x),
                  lambda x, a: gamma_upper(a, x)),
        "chi2": (lambda x, n: (x / 2) ** (n / 2 - 1) * mp.exp(-x / 2) / (2 * mp.gamma(n / 2)),
                 lambda x, n: gamma_lower(n / 2, x / 2), lambda x, n: gamma_upper(n / 2, x / 2)),
        "gennorm": of_tail(lambda x, b: b * mp.exp(-(abs(x) ** b)) / (2 * mp.gamma(1 / b)),
                           lambda x, b: gamma_upper(1 / b, x**b) / 2),
        "beta": (lambda x, a, b: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b), lambda x, a, b: beta_lower(a, b, x),
                 lambda x, a, b: beta_lower(b, a, 1 - x)),
        "f": (lambda x, m, n: (m / n) ** (m / 2) * x ** (m / 2 - 1) * (1 + m * x / n) ** (-(m + n) / 2)
              / mp.beta(m / 2, n / 2),
              lambda x, m, n: beta_lower(m / 2, n / 2, m * x / (m * x + n)),
              lambda x, m, n: beta_lower(n / 2, m / 2, n / (m * x + n))),
        "t": of_tail(lambda x, n: (1 + x * x / n) ** (-(n + 1) / 2) / (mp.sqrt(n) * mp.beta(half, n / 2)),
                     lambda x, n: beta_lower(n / 2, half, n / (n + x * x)) / 2),
        "vonmises": of_tail(lambda x, k: mp.exp(k * mp.cos(x)) / (2 * mp.pi * mp.besseli(0, k)),
                            lambda x, k: arc(-x, k)),
        "poisson": (lambda k, mu: mp.exp(-mu) * mu**k / mp.factorial(k), lambda k, mu: gamma_upper(k + 1, mu),
                    lambda k, mu: gamma_lower(k + 1, mu)),
        "binom": (lambda k, n, p: mp.binomial(n, k) * p**k * (1 - p) ** (n - k),
                  lambda k, n, p: beta_lower(n - k, k + 1, 1 - p), lambda k, n, p: beta_lower(k + 1, n - k, p)),
        "nbinom": (lambda k, n, p: mp.gamma(n + k) / (mp.gamma(n) * mp.factorial(k)) * p**n * (1 - p) ** k,
                   lambda k, n, p: beta_lower(n, k + 1, p), lambda k, n, p: beta_lower(k + 1, n, 1 - p)),
        "geom": (lambda k, p: (1 - p) ** (k - 1) * p, lambda k, p: 1 - (1 - p) ** k, lambda k, p: (1 - p) ** k),
        "bernoulli": (lambda k, p: p if k else 1 - p, lambda k, p: 1 if k else 1 - p, lambda k, p: 0 if k else p),
        "betabinom": on_line(betabinom, 0, lambda n, a, b: n),
    }  # fmt: skip


def rows(mp, names=POINTS):
    """The table, computed."""
    mp.mp.dps = 80
    known = distributions(mp)
    for name in names:
        for args in POINTS[name]:
            for function, f in zip(FUNCTIONS, known[name], strict=True):
                constant = CONSTANT.get(name, 0)
                point = [mp.mpf(a) for a in args]
                if f(*point) in (0, 1) or (name == "bernoulli" and function == "logsf" and args[0] == 1):
                    continue
                logarithm = lambda *a, f=f: mp.log(f(*a))
                value = float(logarithm(*point))
                first, second = [], []
                for k in range(constant, len(point)):
                    along = lambda u, k=k, g=logarithm, p=point: g(*p[:k], u, *p[k + 1 :])
                    h = mp.mpf(10) ** -25 * (abs(point[k]) if point[k] else 1)
                    first.append(float(mp.diff(along, point[k], h=h)))
                    second.append(float(mp.diff(along, point[k], 2, h=h)))
                yield name, function, list(args), value, first, second


if __name__ == "__main__":
    import mpmath

    RECORD.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows(mpmath)) + "\n]\n", "utf-8")
