"""Cases for pytest: one a primitive or function of the registry or of a module, to parametrise a test with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from autodidax import errors
from autodidax.core.primitive import Primitive
from autodidax.testing.commandline.modules import Subject, chosen_of, load_all, of_primitive, resolve
from autodidax.testing.commandline.options import CheckOptions
from autodidax.testing.commandline.subjects import check_subject
from autodidax.testing.report import Report


@dataclasses.dataclass(frozen=True)
class RuleCase:
    """One primitive or function whose rules are to be checked; as text, what names it on the command line."""

    subject: Subject
    options: CheckOptions

    def __str__(self) -> str:
        return self.subject.reference

    def check(self) -> Report:
        """Check all its rules.

        Returns
        -------
        The report, whose `missing` and `inconclusive` say what was not judged.

        Raises
        ------
        CheckError : where a rule is wrong (or missing, where that was asked for), with its `report`.
        """
        outcome = check_subject(self.subject, self.options)
        if outcome.error:
            raise RuntimeError(f"the checker itself failed on {self}: {outcome.error}")
        return outcome.report.raise_if_failed()


def rule_cases(target: Any = None, **options: Any) -> list[RuleCase]:
    """Cases to check rules with: ``@pytest.mark.parametrize("case", rule_cases("my.module"), ids=str)``.

    Parameters
    ----------
    target : None for all primitives of the registry; a module, or text as on the command line (a primitive's name, a
        pattern, "package.module", "package.module:name"); a primitive; or a list of any of these.
    options : of the check, named as on the command line: modes, order, seeds, slow, strict, require_complete, points,
        dtype.

    >>> [case] = rule_cases("sin", order=1)
    >>> print(case, case.check().ok)
    sin True
    """
    fields = {f.name for f in dataclasses.fields(CheckOptions)}
    unknown = sorted(options.keys() - fields)
    if unknown:
        raise errors.ArgumentError(
            f"rule_cases: there is no option {unknown[0]!r}", mend=f"give some of {', '.join(sorted(fields))}"
        )
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list | range) else v for k, v in options.items()}
    wanted = CheckOptions(**values)
    return [RuleCase(s, wanted) for s in _subjects(target)]


def _subjects(target: Any) -> Sequence[Subject]:
    if target is None or isinstance(target, str):
        load_all()
        return resolve([] if target is None else [target])
    if isinstance(target, ModuleType):
        return chosen_of(target)
    if isinstance(target, Primitive):
        return [of_primitive(target)]
    if not isinstance(target, Iterable):
        raise errors.ArgumentError(
            f"rule_cases takes modules, primitives and names, got {type(target).__name__}",
            mend='write rule_cases("my.module")',
        )
    return [s for one in target for s in _subjects(one)]
