"""Record derivatives of gamma samples in 250 digits: run `python -m tests.random.record_slopes` where mpmath is."""

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import scipy.special as sc

FILE = Path(__file__).with_name("recorded_slopes.json")
PARAMETERS = (1e-3, 0.01, 0.1, 0.5, 1.0, 1.5, 2.4, 2.6, 5.0, 12.0, 29.9, 30.1, 60.0, 200.0, 1e3, 1e4)
LEVELS = (1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.6, 0.9, 0.99, 1 - 1e-6)
UPPER_LEVELS = (1e-9, 1e-20, 1e-60)


def slope(a, log_x):
    """Derivative of log(x) in a: the sum of t_n (digamma(a + 1 + n) - log(x)) / a with t_n = x**n / (a + 1)_n."""
    with mp.workdps(250):
        a, log_x = mp.mpf(a), mp.mpf(log_x)
        x, term, digamma, n = mp.exp(log_x), mp.mpf(1), mp.digamma(a + 1), 0
        total = digamma - log_x
        while n < x - a + 5 or abs(term * (digamma - log_x)) > mp.mpf(10) ** -245 * abs(total):
            n += 1
            term *= x / (a + n)
            digamma += 1 / (a + n)
            total += term * (digamma - log_x)
        return float(total / a)


if __name__ == "__main__":
    rows = []
    for a in PARAMETERS:
        for level in LEVELS:
            x = sc.gammaincinv(a, level)
            log_x = float(np.log(x)) if x > 1e-290 else float((np.log(level) + sc.gammaln(a + 1)) / a)
            rows.append((a, log_x, slope(a, log_x)))
        for level in UPPER_LEVELS:
            x = sc.gammainccinv(a, level)
            rows.append((a, float(np.log(x)), slope(a, float(np.log(x)))))
    table = {"made by": f"mpmath {mp.__version__}", "a, log(x), d log(x) / d a": rows}
    FILE.write_text(json.dumps(table, indent=0), "utf-8")
