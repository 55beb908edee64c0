"""The uniform distribution."""

from __future__ import annotations

from typing import Any

from autodidax.primitives.elementwise import log, log1p
from autodidax.scipy.stats.distributions import Continuous


class Uniform(Continuous):
    """The uniform distribution on [loc, loc + scale]. Source: scipy.stats.uniform."""

    def support(self) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _pdf(self, y: Any) -> Any:
        return 0.0 * y + 1.0

    def _logpdf(self, y: Any) -> Any:
        return 0.0 * y

    def _cdf(self, y: Any) -> Any:
        return y

    def _sf(self, y: Any) -> Any:
        return 1.0 - y

    def _logcdf(self, y: Any) -> Any:
        return log(y)

    def _logsf(self, y: Any) -> Any:
        return log1p(-y)

    def _ppf(self, q: Any) -> Any:
        return q

    def _isf(self, q: Any) -> Any:
        return 1.0 - q


uniform = Uniform("uniform")

__all__ = ["uniform"]
