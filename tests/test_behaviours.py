"""Behaviours that users of this kind of library asked for, read from a table where it stands beside the project."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp

TABLE = Path(__file__).resolve().parents[2] / "shared" / "cases" / "behaviours.py"
NEEDS_FUNCTION = {"gammainc_shape_derivative": "gammainc", "bessel_order_derivative": "jv"}


def _cases():
    if not TABLE.exists():
        return []
    spec = importlib.util.spec_from_file_location("behaviours", TABLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["name"])
def test_behaviour(case):
    function = NEEDS_FUNCTION.get(case["name"])
    if function is not None and not hasattr(ad.scipy.special, function):
        pytest.skip(f"scipy.special.{function} is not offered yet")
    with np.errstate(all="ignore"):
        assert case["code"](ad, anp) is True
