"""Outcomes as JUnit XML."""

import xml.etree.ElementTree as ET

import pytest

from autodidax.testing.commandline.junit import as_junit
from autodidax.testing.commandline.subjects import Outcome
from autodidax.testing.report import Failure, Report


def _report(name, mode="fwd", **fields):
    report = Report(name, module="m", **fields)
    if mode:
        report.passed(mode)
    return report


OUTCOMES = {
    "ok": Outcome(_report("ok")),
    "wrong": Outcome(
        _report("wrong", failures=[Failure("wrong", "jvp", "fwd", "value", f"a < b & {k}\x00\x1b") for k in "cd"])
    ),
    "error": Outcome(_report("error", ""), error="ValueError: oh\nTraceback"),
    "skipped": Outcome(_report("skipped", "", skipped=["its rules are the user's"])),
    "missing": Outcome(_report("missing", "", missing=["samples", "batch"])),
    "unsure": Outcome(
        _report("unsure", inconclusive=["a kink"], warnings=[Failure("unsure", "jvp", "fwd", "precision", "7 digits")])
    ),
}
CHILDREN = {
    "ok": [], "wrong": ["failure", "failure"], "error": ["error"], "skipped": ["skipped"],
    "missing": ["skipped", "system-out"], "unsure": ["system-out"],
}  # fmt: skip


def _suite():
    [suite] = ET.fromstring(as_junit(list(OUTCOMES.values()), 1.5).encode())
    return suite


def test_the_counts_are_those_of_cases():
    counts = {k: _suite().get(k) for k in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "6", "failures": "1", "errors": "1", "skipped": "2", "time": "1.500"}


@pytest.mark.parametrize("name", OUTCOMES)
def test_each_outcome_is_one_case(name):
    [case] = [c for c in _suite() if c.get("name") == name]
    assert case.get("classname") == "m"
    assert [child.tag for child in case] == CHILDREN[name]


def test_texts_are_kept_but_for_characters_that_xml_has_not():
    cases = {c.get("name"): c for c in _suite()}
    assert "a < b & c\ufffd\ufffd" in cases["wrong"][0].text
    assert cases["wrong"][0].get("message") == "jvp: a < b & c\ufffd\ufffd"
    assert cases["error"][0].get("message") == "ValueError: oh"
    assert cases["skipped"][0].get("message") == "its rules are the user's"
    assert cases["missing"][0].get("message") == "missing: samples, batch"
    assert "inconclusive: a kink" in cases["unsure"][0].text and "7 digits" in cases["unsure"][0].text
