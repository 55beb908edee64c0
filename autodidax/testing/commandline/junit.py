"""The outcomes of a check as JUnit XML, which continuous integration systems read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from autodidax.testing.commandline.subjects import Outcome

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(outcomes: Sequence[Outcome], seconds: float) -> str:
    """One test case a subject: failures (and the checker's errors) in it, what could not be judged and warnings
    as its output, and skipped where nothing was compared."""
    suite = ET.Element("testsuite", name="autodidax check", time=f"{seconds:.3f}")
    suite.extend(map(_case, outcomes))
    cases = list(suite)
    counts = {tag: sum(c.find(tag[:-1] if tag != "skipped" else tag) is not None for c in cases)
              for tag in ("failures", "errors", "skipped")}  # fmt: skip
    for name, count in {"tests": len(cases), **counts}.items():
        suite.set(name, str(count))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(outcome: Outcome) -> ET.Element:
    r = outcome.report
    case = ET.Element("testcase", classname=r.module, name=r.subject, time=f"{r.seconds:.3f}")
    if outcome.error:
        _child(case, "error", outcome.error, message=outcome.error.split("\n")[0], type="checker")
    for f in r.failures:
        _child(case, "failure", str(f), message=f"{f.rule}: {f.message}", type=f.layer)
    if not (r.failures or outcome.error) and (outcome.unjudged or not r.checks):
        _child(case, "skipped", "", message=outcome.unjudged or why_nothing(outcome))
    lines = [f"warning: {w}" for w in r.warnings] + [f"inconclusive: {what}" for what in r.inconclusive]
    lines += [f"skipped: {what}" for what in r.skipped if r.checks] + [f"missing: {what}" for what in r.missing]
    if lines:
        _child(case, "system-out", "\n".join(lines))
    return case


def _child(case: ET.Element, tag: str, text: str, **attributes: str) -> None:
    child = ET.SubElement(case, tag, {name: _clean(value) for name, value in attributes.items()})
    child.text = _clean(text) or None


def _clean(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def why_nothing(outcome: Outcome) -> str:
    """Why nothing was compared."""
    r = outcome.report
    if r.skipped:
        return r.skipped[0]
    return f"missing: {', '.join(r.missing)}" if r.missing else "nothing to check"
