"""Checks in several processes, with the outcomes in the order of the subjects and a name for what a process died of."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from autodidax.testing.commandline.modules import Subject, load_all, resolve
from autodidax.testing.commandline.options import CheckOptions
from autodidax.testing.commandline.subjects import Outcome, check_subject, crashed

SUBJECTS_A_PROCESS = 20  # fewer are not worth the start of a process


def default_jobs(subjects: int, worth: int = SUBJECTS_A_PROCESS) -> int:
    """The cores that this process may use, but no more processes than there is work for, at so many subjects each."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, min(cores, subjects // worth))


class Outcomes:
    """The outcomes of the subjects that `names` stand for, in their order, as soon as each is due.

    Each worker is given one subject at a time, so that the one which a dying worker was at is known; its outcome is an
    error and another worker takes over.
    """

    def __init__(self, subjects: Sequence[Subject], names: Sequence[str], options: CheckOptions, jobs: int):
        self.subjects, self.options, self.jobs = list(subjects), options, min(jobs, len(subjects))
        self.prepare = functools.partial(_subjects_by_reference, tuple(names))
        self.finished: dict[int, Outcome] = {}

    def __iter__(self) -> Generator[Outcome, None, None]:
        if self.jobs <= 1:
            for subject in self.subjects:
                with _exit_raised():
                    outcome = check_subject(subject, self.options)
                yield outcome
            return
        # the last one first: in the registry it builds on most, and takes longest
        waiting = iter([len(self.subjects) - 1, *range(len(self.subjects) - 1)])
        busy: dict[Any, tuple[BaseProcess, int]] = {}
        due = 0
        try:
            for k in (k for _, k in zip(range(self.jobs), waiting, strict=False)):
                self._give(self._start(), k, busy)
            while due < len(self.subjects):
                for pipe in _ready(busy):
                    process, k = busy.pop(pipe)
                    try:
                        self.finished[k] = pipe.recv()
                        worker = process, pipe
                    except (EOFError, OSError):
                        self.finished[k] = self._died(process, pipe, k)
                        worker = None
                    following = next(waiting, None)
                    if following is not None:
                        self._give(worker or self._start(), following, busy)
                    elif worker is not None:
                        _stop(*worker)
                while due in self.finished:
                    yield self.finished.pop(due)
                    due += 1
        finally:
            for pipe, (process, _) in busy.items():
                _stop(process, pipe)

    def ahead(self) -> list[Outcome]:
        """The outcomes that are there already and wait for one before them."""
        return [self.finished[k] for k in sorted(self.finished)]

    def _start(self) -> tuple[BaseProcess, Any]:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=_serve, args=(theirs, ours, self.prepare, self.options), daemon=True)
        process.start()
        theirs.close()  # so that the pipe ends where the worker does
        return process, ours

    def _give(self, worker: tuple[BaseProcess, Any], k: int, busy: dict[Any, tuple[BaseProcess, int]]) -> None:
        process, pipe = worker
        busy[pipe] = process, k
        with contextlib.suppress(OSError):  # where it has died, the wait finds that out
            pipe.send(self.subjects[k].reference)

    def _died(self, process: BaseProcess, pipe: Any, k: int) -> Outcome:
        pipe.close()
        process.join()
        code = process.exitcode or 0
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return crashed(self.subjects[k], f"the process that checked it died {how}")


@contextlib.contextmanager
def _exit_raised() -> Iterator[None]:
    """Raise SystemExit where what is checked calls os._exit, which would end this process, and the check, silently.
    Processes that it starts in the block may end themselves."""
    here, end = os.getpid(), os._exit

    def raise_exit(status: int) -> NoReturn:
        if os.getpid() != here:
            end(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = raise_exit
    try:
        yield
    finally:
        os._exit = end


def _ready(busy: dict[Any, Any]) -> list[Any]:
    """The pipes that have an outcome, or have ended; waits for the first."""
    return list(connection.wait(list(busy)))


def _stop(process: BaseProcess, pipe: Any) -> None:
    pipe.close()
    process.terminate()
    process.join()


def _subjects_by_reference(names: Sequence[str]) -> dict[str, Subject]:
    load_all()
    with contextlib.redirect_stdout(sys.stderr):
        return {s.reference: s for s in resolve(names)}


def _serve(pipe: Any, other_end: Any, prepare: Callable[[], dict[str, Subject]], options: CheckOptions) -> None:
    """What a worker does: check the subjects that it is given, until the pipe ends."""
    other_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, which gets it as well, ends the workers
    subjects = prepare()
    while True:
        try:
            reference = pipe.recv()
        except EOFError:
            return
        subject = subjects[reference]
        try:
            outcome = check_subject(subject, options)
        except KeyboardInterrupt:  # a real one does not come here
            outcome = crashed(subject, "what is checked raised KeyboardInterrupt")
        pipe.send(outcome)
