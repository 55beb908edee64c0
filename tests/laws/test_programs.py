"""Random programs under random nestings of transforms: equal to the loop, the eager run and differences.

One case can be run again by its seed: `run_program(seed)`, or `show(seed)` to see the program.
"""

import datetime
import os
import warnings

import numpy as np
import pytest

from autodidax.errors import NondifferentiableError
from tests.laws.laws import check
from tests.laws.nestings import Point, by_grad, by_jit, by_jvp, by_vjp, by_vmap, random_transform
from tests.laws.programs import Program, random_program
from tests.laws.regions import TABLES

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
SHARDS, PER_SHARD = 40, 250
ROTATING, PER_PART = 8, 40
DEPTH = 3


def make(seed: int) -> tuple[Program, Point, np.random.Generator]:
    """The program of a seed, as a point, and the generator that goes on from there."""
    rng = np.random.default_rng((seed, 2024))
    builder, inputs = random_program(rng, TABLES)
    settings = {"exact": builder.exact, "narrows": builder.narrows}
    return builder.program, Point(builder.program, tuple(inputs), settings=settings), rng


def run_program(seed: int, judged: list[int] | None = None) -> None:
    """Check a program's own laws, each transform of it, and one random nesting at every depth."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _, point, rng = make(seed)
        check(point, rng, judged)
        for transform in rng.permutation(np.array([by_jvp, by_vjp, by_grad, by_vmap, by_jit], object))[:2]:
            found = transform(rng, point)
            if found is not None:
                check(found, rng, judged)
        for _ in range(DEPTH):
            point = random_transform(rng, point)
            check(point, rng, judged)


def show(seed: int) -> str:
    program, point, _ = make(seed)
    args = ", ".join(f"{np.asarray(x).dtype}{list(np.shape(x))}" for x in point.xs)
    return f"seed {seed}, arguments {args}\n{program}"


def run_many(seeds: range) -> None:
    """All programs of a range; the failure names each seed that broke a law, and shows the first program."""
    broken: list[tuple[int, str]] = []
    judged = [0, 0]
    for seed in seeds:
        try:
            run_program(seed, judged)
        except NondifferentiableError:  # a primitive says that it has no derivatives of so high an order
            continue
        except Exception as e:
            broken.append((seed, f"{type(e).__name__}: {e}"))
    if broken:
        listed = "\n".join(f"run_program({seed}): {message}" for seed, message in broken)
        shown = show(broken[0][0])
        pytest.fail(f"{len(broken)} of {len(seeds)} programs broke a law\n{listed}\n{shown}", pytrace=False)
    assert judged[0] > 0.6 * judged[1], f"differences could judge only {judged[0]} of {judged[1]} entries"


@pytest.mark.parametrize("part", range(ROTATING))
def test_rotating_programs(part):
    first = ROTATION * ROTATING * PER_PART + part * PER_PART
    run_many(range(first, first + PER_PART))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_programs(shard):
    run_many(range(shard * PER_SHARD, (shard + 1) * PER_SHARD))
