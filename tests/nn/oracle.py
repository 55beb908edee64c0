"""The activations in mpmath, and the table of points: `python -m tests.nn.oracle` records values and derivatives.

A row is (function, arguments, value, first derivatives, second derivatives of each argument twice).
"""

import json
from pathlib import Path

RECORD = Path(__file__).with_name("tails.json")
BOTH_TAILS = [(x,) for x in (-600.0, -60.0, -30.0, -9.0, -3.0, -0.5, -1e-4, 1e-4, 0.5, 3.0, 9.0, 30.0, 60.0, 600.0)]
POINTS = {
    "sigmoid": BOTH_TAILS,
    "log_sigmoid": BOTH_TAILS,
    "softplus": BOTH_TAILS,
    "silu": BOTH_TAILS,
    "mish": BOTH_TAILS,
    "gelu": [(x,) for x in (-16.0, -9.0, -3.0, -0.5, -1e-4, 1e-4, 0.5, 3.0, 9.0, 20.0)],
    "gelu_exact": [(x,) for x in (-37.0, -9.0, -3.0, -0.5, -1e-4, 1e-4, 0.5, 3.0, 9.0, 30.0)],
    "soft_sign": [(x,) for x in (-1e9, -30.0, -0.5, 1e-4, 3.0, 1e9)],
    "elu": [(x, 1.3) for x in (-600.0, -30.0, -0.5, -1e-4, 1e-4, 3.0)],
    "celu": [(x, 1.3) for x in (-600.0, -30.0, -0.5, -1e-4, 1e-4, 3.0)],
    "squareplus": [(x, 4.0) for x in (-1e6, -30.0, -0.5, -1e-4, 1e-4, 3.0, 1e6)],
    "log1mexp": [(x,) for x in (1e-9, 1e-3, 0.5, 0.69, 0.7, 3.0, 40.0, 600.0)],
}


def functions(mp):
    """name -> function of mpmath numbers."""
    return {
        "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
        "log_sigmoid": lambda x: -mp.log1p(mp.exp(-x)),
        "softplus": lambda x: mp.log1p(mp.exp(x)),
        "silu": lambda x: x / (1 + mp.exp(-x)),
        "mish": lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
        "gelu": lambda x: x * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))) / 2,
        "gelu_exact": lambda x: x * mp.ncdf(x),
        "soft_sign": lambda x: x / (1 + abs(x)),
        "elu": lambda x, a: x if x > 0 else a * mp.expm1(x),
        "celu": lambda x, a: x if x > 0 else a * mp.expm1(x / a),
        "squareplus": lambda x, b: (x + mp.sqrt(x * x + b)) / 2,
        "log1mexp": lambda x: mp.log(-mp.expm1(-x)),
    }


def rows(mp):
    """The table, computed."""
    mp.mp.dps = 700  # tails of exp(-600) are differences of numbers near 1
    known = functions(mp)
    for name, points in POINTS.items():
        for args in points:
            point = [mp.mpf(a) for a in args]
            first, second = [], []
            for k in range(len(point)):
                along = lambda u, k=k, f=known[name], p=point: f(*p[:k], u, *p[k + 1 :])
                h = mp.mpf(10) ** -120 * abs(point[k])
                first.append(float(mp.diff(along, point[k], h=h)))
                second.append(float(mp.diff(along, point[k], 2, h=h)))
            yield name, list(args), float(known[name](*point)), first, second


if __name__ == "__main__":
    import mpmath

    RECORD.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows(mpmath)) + "\n]\n", "utf-8")
