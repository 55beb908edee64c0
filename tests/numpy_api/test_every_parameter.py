"""A traced value in every parameter of every function of numpy, numpy.linalg and numpy.fft, one at a time.

Through numpy and through autodidax.numpy, in forward and reverse mode, under jit and vmap: the derivative is right, or
there is an error that names the function or the parameter and says what to write. What each parameter leads to stands
in the tables of the folder `parameters`. The ordinary run takes a part of the functions, another each day
(AUTODIDAX_ROTATION fixes which); the slow one takes all.
"""

import datetime
import os

import pytest

from tests.numpy_api.parameters.calls import CALLS, NOT_CALLED
from tests.numpy_api.parameters.outcomes import OUTCOMES
from tests.numpy_api.parameters.slots import public_functions, slots
from tests.numpy_api.parameters.verdicts import outcome

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
PARTS = 4
TODAY = list(CALLS)[ROTATION % PARTS :: PARTS]
EXPECTED = {
    name: dict(item.rsplit(":", 1) for item in items.split())
    for names, items in OUTCOMES.items()
    for name in names.split()
}


def test_every_function_has_a_call_or_a_reason():
    excused = [name for names in NOT_CALLED.values() for name in names]
    assert set(public_functions()) == {*CALLS, *excused}
    assert not set(CALLS) & set(excused)


def test_every_call_has_outcomes():
    assert set(EXPECTED) == set(CALLS)


def expected(name, keys):
    """The outcomes of a function's slots, with those that the table leaves out."""
    table = EXPECTED[name]
    found = dict(table)
    for key in keys:
        first = key.partition("|")[0].removesuffix("=[]")
        if key not in table and first in table:
            found[key] = table[first] if "|" in key else "ed" if table[first] == "dd" else "?"
    return found


def check(name):
    found, faults = {}, []
    for slot in slots(name, CALLS[name]):
        found[slot.key], own_faults = outcome(slot)
        faults += own_faults
    assert not faults, "\n".join(faults)
    assert found == expected(name, found)


@pytest.mark.parametrize("name", TODAY)
def test_traced_parameters_of(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CALLS if name not in TODAY])
def test_traced_parameters_of_the_others(name):
    check(name)
