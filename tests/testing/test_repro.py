"""A case as text, and back."""

import pytest

from autodidax import errors
from autodidax.testing.commandline.repro import Repro, repro_of
from autodidax.testing.report import Failure

CASES = {
    "sin": Repro("sin"),
    "sin@seed=3": Repro("sin", seed=3),
    "my.module:f@sample=0,point=one entry zero,mode=rev,order=2": Repro(
        "my.module:f", sample=0, point="one entry zero", mode="rev", order=2
    ),
    "sin@seed=1,sample=12,point=zeros of 1,mode=jit,order=3,dtype=float32": Repro(
        "sin", 1, 12, "zeros of 1", "jit", 3, "float32"
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_text_and_case_round_trip(text):
    assert Repro.parse(text) == CASES[text]
    assert str(CASES[text]) == text


def test_defaults_may_be_written():
    assert Repro.parse("sin@seed=0,sample=3,point=zeros,mode=rev,order=2") == Repro("sin", 0, 3, "zeros", "rev", 2)


@pytest.mark.parametrize(
    "text", ["", "@seed=1", "sin@", "sin@nothing", "sin@seed=x", "sin@seed=1,seed=2", "sin@mode=", "sin@colour=red"]
)
def test_what_cannot_be_read_raises(text):
    with pytest.raises(errors.ArgumentError, match="cannot read the case"):
        Repro.parse(text)


def test_the_case_of_a_failure():
    found = Failure(
        "f", "vjp", "rev", "value", "differs", sample="3 of seed 1: (float64[3]), batch size 2", point="ones", order=2
    )
    case = repro_of(found, "m:f", "float32")
    assert case == Repro("m:f", 1, 3, "ones", "rev", 2, "float32")
    assert case.command(strict=True) == (
        "python -m autodidax check --strict --repro m:f@seed=1,sample=3,point=ones,mode=rev,order=2,dtype=float32"
    )
    assert "'sin@point=one entry zero'" in Repro("sin", point="one entry zero").command()


def test_a_failure_without_a_sample_has_no_case():
    assert repro_of(Failure("f", "samples", "impl", "runs", "raised"), "m:f") is None


@pytest.mark.parametrize("text", ["sin@mode=zzz", "sin@order=0", "sin@order=7", "sin@point=nowhere"])
def test_a_case_that_does_not_exist_is_refused(text):
    with pytest.raises(errors.ArgumentError, match="none of"):
        Repro.parse(text)
