"""Every primitive of the registry passes the check of all its rules."""

import pytest

from autodidax.__main__ import load_all
from autodidax.core.primitive import registry
from autodidax.testing.primitives import check_primitive

load_all()


@pytest.mark.parametrize("p", list(registry), ids=str)
def test_the_rules_agree(p):
    check_primitive(p, order=1).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize("p", list(registry), ids=str)
def test_the_rules_agree_at_order_2_for_several_draws(p):
    check_primitive(p, seeds=(1, 2, 3), slow=True).raise_if_failed()
