"""numpy.pad in every mode: values and dtypes of NumPy, and right derivatives of the array and the values put around."""

import numpy as np
import pytest

import autodidax.numpy as anp
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same, check_staged

rng = np.random.default_rng(3)
MODES = {
    "linear_ramp": [{}, {"end_values": 3.0}, {"end_values": ((1.0, 2.0),)}],
    **{mode: [{}, {"stat_length": 2}, {"stat_length": ((1, 2),)}] for mode in ("mean", "median", "maximum", "minimum")},
    **{mode: [{}, {"reflect_type": "odd"}] for mode in ("reflect", "symmetric")},
    "edge": [{}], "wrap": [{}], "constant": [{"constant_values": ((1.0, 2.0),)}],
}  # fmt: skip
WIDTHS = [2, (1, 3), (4, 11)]
ARRAYS = [rng.normal(size=5), rng.normal(size=(3, 4)), rng.normal(size=(1, 2))]
CASES = [
    Case("pad", x, width, mode, **options)
    for mode, choices in MODES.items()
    for options in choices
    for width in WIDTHS
    for x in ARRAYS
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_modes(case):
    laws.traced_value(case)
    laws.first_derivatives(case)
    if case.args[0].ndim == 1:
        laws.mapped(case)
        laws.staged(case)


@pytest.mark.parametrize("dtype", [int, np.float32, complex])
@pytest.mark.parametrize("mode", ["linear_ramp", "mean", "maximum", "median", "reflect", "symmetric"])
def test_dtypes(mode, dtype):
    x = (7 * rng.normal(size=(3, 4))).astype(dtype)
    options = {"reflect_type": "odd"} if mode in ("reflect", "symmetric") else {}
    check_staged(lambda x: anp.pad(x, 2, mode, **options), [x], [0])
    assert_same(anp.pad(x, 2, mode, **options), np.pad(x, 2, mode, **options))
