"""Functions of one or more real variables beside mpmath's: gamma, beta, error, zeta, incomplete, hypergeometric, ...

`python -m tests.special.parameters_oracle` computes the recorded values anew (it needs mpmath, and takes minutes).
"""

import itertools
import json
from pathlib import Path

import numpy as np

import autodidax
from autodidax.scipy import special as ad

RECORDED = Path(__file__).with_name("recorded_parameters.json")
ANYWHERE = (-7.0, -1.0, -1e-3, 0.0, 1e-3, 0.4, 1.0, 2.5, 7.0, 30.0)
POSITIVE = (1e-3, 0.4, 1.0, 2.5, 7.0, 30.0, 1e3)
BETWEEN = (1e-9, 0.02, 0.3, 0.5, 0.97)
LEFT = (-6.3, -1.2, -1e-3)
GAMMA_PLANE = (  # small, integer, large; both tails, and the transition
    (0.3, 1e-3), (0.3, 0.2), (0.3, 4.0), (1.0, 1.0), (2.5, 0.01), (2.5, 2.5), (2.5, 40.0), (50.0, 20.0), (50.0, 50.5),
    (50.0, 120.0), (1e4, 9.7e3), (1e4, 1.00001e4), (1e4, 1.05e4), (1e-6, 0.5),
)  # fmt: skip
BETA_PLANE = (
    (0.3, 0.6, 1e-3), (0.3, 0.6, 0.9), (1.0, 2.0, 0.5), (2.5, 0.02, 0.3), (2.5, 4.0, 1e-4), (40.0, 60.0, 0.2),
    (40.0, 60.0, 0.41), (40.0, 60.0, 0.7), (1e3, 0.5, 0.999), (1e3, 2e3, 0.3333), (1e3, 2e3, 0.36), (1e-3, 5.0, 0.2),
)  # fmt: skip


def _pairs(*axes):
    return tuple(itertools.product(*axes))


def cases(mp):
    """name -> (our function, mpmath's, points, relative tolerance); mp may be None where only ours is asked for."""
    m = mp if mp is not None else _Nothing()

    def lower(a, x):
        return m.gammainc(a, 0, x, regularized=True) if x <= 2 * a + 9 else 1 - upper(a, x)

    def upper(a, x):
        return m.gammainc(a, x, m.inf, regularized=True)

    def beta(a, b, x):
        return m.betainc(a, b, 0, x, regularized=True)

    def student(v, t):
        tail = beta(v / 2, m.mpf(1) / 2, v / (v + t * t)) / 2
        return tail if t < 0 else 1 - tail

    def dawson(x):
        return m.sqrt(m.pi) / 2 * m.exp(-x * x) * m.erfi(x)

    def faddeeva(z):
        return m.exp(-z * z) * m.erfc(-1j * z)

    def voigt(x, s, g):
        return m.re(faddeeva((x + 1j * g) / (s * m.sqrt(2)))) / (s * m.sqrt(2 * m.pi))

    def power(x, p):
        return (x**p - 1) / p

    def exprel(x):
        return m.hyp1f1(1, 2, x)

    def inverse(p, y):
        return m.exp(m.log1p(y * p) / p)

    out = {
        "gamma": (ad.gamma, lambda x: m.gamma(x), (*LEFT, 1e-3, 0.4, 1.0, 2.5, 7.0, 30.0)),
        "gammaln": (ad.gammaln, lambda x: m.re(m.loggamma(x)), (*LEFT, *POSITIVE)),
        "rgamma": (ad.rgamma, lambda x: m.rgamma(x), (-9.0, -6.3, *ANYWHERE)),
        "digamma": (ad.digamma, lambda x: m.psi(0, x), (*LEFT, *POSITIVE)),
        "polygamma 2": (lambda x: ad.polygamma(2, x), lambda x: m.psi(2, x), (*LEFT, *POSITIVE)),
        "poch": (
            ad.poch, lambda z, n: m.gammaprod([z + n], [z]), _pairs((-3.6, 0.2, 1.0, 30.0, 1e5), (-0.3, 0.5, 7.3)),
        ),
        "poch at poles": (lambda z: ad.poch(z, 3.0), lambda z: z * (z + 1) * (z + 2), (-3.0, -2.0, -1.0, 0.0, 1.0)),
        "binom": (
            ad.binom, lambda n, k: m.gammaprod([n + 1], [k + 1, n - k + 1]),
            _pairs((-0.5, 2.0, 2.5, 30.0), (-1.0, 0.0, 0.5, 2.0, 5.0)),
        ),
        "beta": (ad.beta, lambda a, b: m.beta(a, b), _pairs((0.02, 1.0, 7.5, 60.0), (0.3, 2.0, 40.0))),
        "betaln": (ad.betaln, lambda a, b: m.log(m.beta(a, b)), _pairs((0.02, 1.0, 7.5, 1e5), (1e-3, 2.0, 40.0))),
        "multigammaln": (
            lambda a: ad.multigammaln(a, 3),
            lambda a: 1.5 * m.log(m.pi) + sum(m.loggamma(a - k / m.mpf(2)) for k in range(3)), (1.1, 2.5, 40.0),
        ),
        "zeta of Hurwitz": (ad.zeta, lambda s, q: m.zeta(s, q), _pairs((1.01, 2.0, 7.5), (0.02, 1.0, 2.5, 50.0))),
        "zeta of Riemann": (ad.zeta, lambda s: m.zeta(s), (-7.5, -4.0, -0.3, 0.0, 0.5, 0.99, 1.5, 2.0, 12.0)),
        "erf": (ad.erf, lambda x: m.erf(x), ANYWHERE),
        "erfcx": (ad.erfcx, lambda x: m.exp(x * x) * m.erfc(x), (-5.0, -1.0, 0.0, 0.4, 7.0, 30.0, 1e3)),
        "erfi": (ad.erfi, lambda x: m.erfi(x), (-5.0, 0.0, 0.4, 2.5, 20.0)),
        "dawsn": (ad.dawsn, dawson, (*ANYWHERE, 6.2, 6.3, 1e3)),
        "wofz": (ad.wofz, faddeeva, (-7.0, 0.0, 0.4, 6.2, 6.3, 30.0)),
        "voigt_profile": (ad.voigt_profile, voigt, _pairs((-0.5, 3.0, 40.0), (0.01, 1.0), (1e-4, 0.5, 10.0))),
        "erfinv": (ad.erfinv, lambda x: m.erfinv(x), (-0.999, -0.3, 1e-9, 0.3, 0.97)),
        "ndtri": (ad.ndtri, lambda p: m.sqrt(2) * m.erfinv(2 * p - 1), BETWEEN),
        "ndtri_exp": (ad.ndtri_exp, lambda y: m.sqrt(2) * m.erfinv(2 * m.exp(y) - 1), (-20.0, -1.0, -1e-3)),
        "log_ndtr": (ad.log_ndtr, lambda x: m.log(m.ncdf(x)), (-40.0, -3.0, 0.0, 2.0)),
        "owens_t": (
            ad.owens_t, lambda h, a: m.quad(lambda t: m.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / 2 / m.pi,
            _pairs((-3.0, 0.0, 0.5, 4.0), (-1.5, 0.3, 2.0)),
        ),
        "exprel": (ad.exprel, exprel, (-60.0, *ANYWHERE, 200.0)),
        "boxcox": (ad.boxcox, power, _pairs((1e-3, 0.5, 1.0, 3.0, 1e4), (-2.0, 1e-9, 0.5, 2.0))),
        "inv_boxcox": (lambda p, y: ad.inv_boxcox(y, p), inverse, ((1e-9, 0.3), (0.5, -1.5), (-0.2, 4.0), (2.0, 1e-9))),
        "pseudo_huber": (
            ad.pseudo_huber, lambda d, r: d * d * (m.sqrt(1 + (r / d) ** 2) - 1),
            _pairs((0.1, 1.0, 10.0), (-1e-6, 0.3, 90.0)),
        ),
        "spence": (ad.spence, lambda z: m.polylog(2, 1 - z), (1e-12, 0.3, 1 - 1e-9, 1.0, 1.5, 1e4), 1e-8),
        "exp1": (ad.exp1, lambda x: m.e1(x), POSITIVE[:-1]),
        "expi": (ad.expi, lambda x: m.ei(x), (-7.0, -0.4, *POSITIVE[:-1])),
        "expn 2": (lambda x: ad.expn(2, x), lambda x: m.expint(2, x), POSITIVE[:-1]),
        "sici 0": (lambda x: ad.sici(x)[0], lambda x: m.si(x), ANYWHERE),
        "sici 1": (lambda x: ad.sici(x)[1], lambda x: m.ci(x), POSITIVE),
        "shichi 0": (lambda x: ad.shichi(x)[0], lambda x: m.shi(x), ANYWHERE),
        "lambertw": (lambda z: ad.lambertw(z), lambda z: m.lambertw(z), (-0.3, 0.0, 1e-9, 0.4, 7.0, 1e9)),
        "lambertw -1": (lambda z: ad.lambertw(z, -1), lambda z: m.lambertw(z, -1), (-0.3, -1e-9, 0.4, 7.0)),
        "wrightomega": (ad.wrightomega, lambda x: m.lambertw(m.exp(x)), ANYWHERE),
        "agm": (ad.agm, lambda a, b: m.agm(a, b), _pairs((1e-3, 1.0, 1 + 1e-8, 30.0), (0.5, 1.0, 7.0))),
        "gammainc": (ad.gammainc, lower, GAMMA_PLANE),
        "gammaincc": (ad.gammaincc, upper, GAMMA_PLANE),
        "betainc": (ad.betainc, beta, BETA_PLANE),
        "betaincc": (ad.betaincc, lambda a, b, x: beta(b, a, 1 - x), BETA_PLANE),
        "chdtr": (ad.chdtr, lambda v, x: lower(v / 2, x / 2), ((0.5, 0.1), (3.0, 2.0), (100.0, 120.0))),
        "gdtr": (ad.gdtr, lambda a, b, x: lower(b, a * x), ((0.5, 0.1, 1.0), (3.0, 2.0, 0.3))),
        "fdtr": (
            ad.fdtr, lambda a, b, x: beta(a / 2, b / 2, a * x / (b + a * x)),
            ((3.0, 2.0, 0.3), (3.0, 2.0, 30.0), (50.0, 70.0, 1.1)),
        ),
        "stdtr": (ad.stdtr, student, ((0.3, -3.0), (3.0, 0.01), (3.0, 2.0), (3.0, -30.0), (200.0, 1.7), (1e4, -2.0))),
        "kolmogorov": (
            ad.kolmogorov, lambda y: 2 * m.fsum((-1) ** (k - 1) * m.exp(-2 * k * k * y * y) for k in range(1, 60)),
            (0.4, 0.99, 1.01, 2.0, 5.0),
        ),
        "smirnov": (
            lambda d: ad.smirnov(30, d),
            lambda d: d * m.fsum(
                m.binomial(30, j) * (d + m.mpf(j) / 30) ** (j - 1) * (1 - d - m.mpf(j) / 30) ** (30 - j)
                for j in range(int(30 * (1 - d)) + 1)
            ),
            (0.013, 0.17, 0.61),
        ),
        "hyp0f1": (ad.hyp0f1, lambda b, z: m.hyp0f1(b, z), _pairs((0.5, -1.3, 60.0), (-200.0, -3.0, 0.4, 90.0))),
        "hyp1f1": (
            ad.hyp1f1, lambda a, b, z: m.hyp1f1(a, b, z),
            ((0.5, 0.7, -30.0), (0.5, -1.3, 0.4), (-2.0, 0.7, 0.4), (-2.0, 60.0, -30.0), (20.0, 0.7, 20.0)),
        ),
        "hyp2f1": (
            ad.hyp2f1, lambda a, b, c, z: m.hyp2f1(a, b, c, z),
            ((0.5, 2.0, 0.4, -9.0), (0.5, 2.0, 4.0, 0.9), (-2.0, 2.0, 0.4, 0.3), (-2.0, 2.0, 4.0, -0.9)),
        ),
        "hyperu": (
            ad.hyperu, lambda a, b, x: m.hyperu(a, b, x), _pairs((0.5, -2.3, 5.0), (-1.3, 3.7), (0.05, 3.0, 60.0)),
        ),
    }  # fmt: skip
    return {k: (*row, 1e-8)[:4] for k, row in out.items()}


class _Nothing:
    """Stands for mpmath where its functions are not called."""

    def __getattr__(self, name):
        return self


def as_point(x):
    return x if isinstance(x, tuple) else (x,)


def orders(n):
    """All partial derivatives of order 0, 1 and 2, in n variables."""
    return [o for o in itertools.product(range(3), repeat=n) if sum(o) <= 2]


def compute(mp, f, point):
    """mpmath's value and partial derivatives, by differences at 60 digits."""
    with mp.workdps(75):
        x = [mp.mpf(v) for v in point]
        rows = []
        for o in orders(len(point)):
            steps = [mp.mpf(10) ** -20 * max(abs(v), mp.mpf(10) ** -4) for v in x]
            rows.append(complex(_difference(mp, f, x, o, steps)))
    return np.array(rows)


def _difference(mp, f, x, order, steps):
    """The partial derivative by central differences, one variable after the other."""
    for k, n in enumerate(order):
        if n:
            less = (*order[:k], n - 1, *order[k + 1 :])
            ahead, behind = ([*x[:k], x[k] + s * steps[k], *x[k + 1 :]] for s in (1, -1))
            return (_difference(mp, f, ahead, less, steps) - _difference(mp, f, behind, less, steps)) / (2 * steps[k])
    return f(*x)


def ours(f, points):
    """Our values and partial derivatives at all points, a row each: forward over forward mode, on arrays."""
    columns = tuple(np.array(column, float) for column in zip(*points, strict=True))

    def along(g, k):
        ones = np.ones(len(points))
        return lambda *x: autodidax.jvp(lambda v: g(*x[:k], v, *x[k + 1 :]), (x[k],), (ones,))[1]

    rows = []
    with np.errstate(all="ignore"):
        for o in orders(len(columns)):
            g = f
            for k, n in enumerate(o):
                for _ in range(n):
                    g = along(g, k)
            rows.append(np.asarray(g(*columns), complex))
    return np.stack(rows, axis=1)


def errors_of(got, want, point):
    """Relative errors; a second derivative, where it is close to a zero, is held against the first ones over the
    point's size."""
    n = len(point)
    scale = {o: abs(w) for o, w in zip(orders(n), want, strict=True)}
    sizes = []
    for o in orders(n):
        size = scale[o]
        if sum(o) == 2:
            k = next(i for i, c in enumerate(o) if c)
            first = tuple(int(i == k) for i in range(n))
            other = tuple(a - b for a, b in zip(o, first, strict=True))
            j = next(i for i, c in enumerate(other) if c)
            size = max(size, scale[first] / max(abs(point[j]), 1.0), scale[other] / max(abs(point[k]), 1.0))
        sizes.append(max(size, 1e-290))
    return np.abs(got - want) / np.array(sizes)


if __name__ == "__main__":
    import mpmath

    recorded = {}
    for name, (_, theirs, points, _) in cases(mpmath).items():
        rows = [compute(mpmath, theirs, as_point(x)) for x in points]
        recorded[name] = [[[z.real, z.imag] if z.imag else z.real for z in row.tolist()] for row in rows]
        print(name, flush=True)
    RECORDED.write_text(json.dumps(recorded, indent=None, separators=(",", ":")).replace("]],", "]],\n") + "\n")
