"""Policies of `checkpoint`: which results of a function are kept for the backward pass, and not computed again.

A policy is a function `policy(primitive, *avals, **params) -> bool`, asked of each operation of the function when it is
differentiated. Loops, branches and functions with rules of their own are one operation.

Source: jax.checkpoint_policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autodidax import errors

Policy = Callable[..., bool]
_DOTS = {"matmul", "einsum", "convolve"}


def everything_saveable(primitive: Any, *avals: Any, **params: Any) -> bool:
    """Keep every result, as without `checkpoint`."""
    return True


def nothing_saveable(primitive: Any, *avals: Any, **params: Any) -> bool:
    """Keep the inputs alone, as `checkpoint` does without a policy."""
    return False


def dots_saveable(primitive: Any, *avals: Any, **params: Any) -> bool:
    """Keep results of matrix products, `einsum` and convolutions."""
    return primitive.name in _DOTS


def dots_with_no_batch_dims_saveable(primitive: Any, *avals: Any, **params: Any) -> bool:
    """Keep results of products of matrices and vectors, not of stacks of them."""
    return dots_saveable(primitive, *avals, **params) and all(len(a.shape) <= 2 for a in avals)


checkpoint_dots = dots_saveable
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable


def save_only_these_names(*names: str) -> Policy:
    """Keep what `checkpoint_name` gives one of these names."""
    chosen = _checked(names)
    return lambda primitive, *avals, **params: primitive.name == "name" and params["name"] in chosen


def save_any_names_but_these(*names: str) -> Policy:
    """Keep what `checkpoint_name` gives a name, but for these names."""
    left_out = _checked(names)
    return lambda primitive, *avals, **params: primitive.name == "name" and params["name"] not in left_out


def save_anything_except_these_names(*names: str) -> Policy:
    """Keep every result but those that `checkpoint_name` gives one of these names."""
    left_out = _checked(names)
    return lambda primitive, *avals, **params: not (primitive.name == "name" and params["name"] in left_out)


def save_from_both_policies(first: Policy, second: Policy) -> Policy:
    """Keep what one of two policies keeps."""
    return lambda primitive, *avals, **params: bool(
        first(primitive, *avals, **params) or second(primitive, *avals, **params)
    )


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str = "device",
    offload_dst: str = "pinned_host",
) -> Policy:
    """Keep what has a name of either list: there is one memory, and nothing to offload to."""
    return save_only_these_names(*names_which_can_be_saved, *names_which_can_be_offloaded)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """As `dots_with_no_batch_dims_saveable`: there is one memory, and nothing to offload to."""
    return dots_with_no_batch_dims_saveable


def _checked(names: tuple[str, ...]) -> frozenset[str]:
    for name in names:
        if not isinstance(name, str):
            raise errors.ArgumentError(
                f"checkpoint policy: names are text, got {type(name).__name__}",
                mend='write save_only_these_names("hidden", "scores")',
            )
    return frozenset(names)
