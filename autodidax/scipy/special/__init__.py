"""scipy.special, differentiable to every order: the functions bear SciPy's names, and keep float32."""

from autodidax.scipy.special.bessel import i0, i0e, i1, i1e, iv, ive
from autodidax.scipy.special.exponentials import log_softmax, logsumexp, softmax
from autodidax.scipy.special.gammas import beta, betaln, digamma, gamma, gammaln, loggamma, polygamma, psi, zeta
from autodidax.scipy.special.logarithms import entr, expit, kl_div, log_expit, logit, rel_entr, xlog1py, xlogy
from autodidax.scipy.special.normal import erf, erfc, erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri

__all__ = [
    "beta",
    "betaln",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "expit",
    "gamma",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "kl_div",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]
