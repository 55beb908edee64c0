"""Options: names with and without JAX's prefix, values, overrides, and what bad input gets."""

import asyncio
import threading

import pytest

from autodidax.config import Config, config
from autodidax.errors import ArgumentError

BOOLEANS = ["debug_nans", "debug_infs", "disable_jit"]


@pytest.fixture
def fresh():
    return Config()


def test_defaults(fresh):
    assert fresh.enable_x64 is True
    assert fresh.debug_nans is fresh.debug_infs is False
    assert fresh.disable_jit is False
    assert fresh.numpy_dtype_promotion == "standard"
    assert fresh.traceback_filtering == "auto"
    assert fresh.platform_name == fresh.platforms == "cpu"


@pytest.mark.parametrize("name", BOOLEANS)
@pytest.mark.parametrize("prefix", ["", "jax_"])
def test_update_and_read_by_both_names(fresh, name, prefix):
    fresh.update(prefix + name, True)
    assert getattr(fresh, name) is getattr(fresh, "jax_" + name) is fresh.read(name) is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jax_enable_x64", True),
        ("jax_platforms", "cpu"),
        ("jax_platform_name", "cpu"),
        ("jax_numpy_dtype_promotion", "standard"),
        ("jax_traceback_filtering", "off"),
    ],
)
def test_accepted_values(fresh, name, value):
    fresh.update(name, value)
    assert fresh.read(name) == value


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("jax_enable_x64", False, r"always 64-bit\n(.*\n)*.*mend: .*np\.float32"),
        ("jax_enable_x64", "yes", "takes True or False, got 'yes'"),
        ("debug_nans", 1, "takes True or False, got 1"),
        ("jax_platforms", "gpu", "platforms takes 'cpu' or '' or None, got 'gpu'"),
        ("numpy_dtype_promotion", "strict", "takes 'standard', got 'strict'"),
        ("jax_debug_nan", True, r"no option 'jax_debug_nan'\n(.*\n)*.*mend: did you mean debug_nans or debug_infs\?"),
        ("quantum", True, r"no option 'quantum'\n(.*\n)*.*mend: the options are enable_x64, "),
        (3, True, "no option 3"),
    ],
)
def test_refused_values(fresh, name, value, message):
    with pytest.raises(ArgumentError, match=message):
        fresh.update(name, value)
    assert fresh.debug_nans is False


def test_unknown_attribute_is_an_attribute_error(fresh):
    with pytest.raises(AttributeError, match="did you mean 'debug_nans'"):
        fresh.debug_nan
    assert not hasattr(fresh, "__wrapped__")


def test_assignment_names_update(fresh):
    with pytest.raises(ArgumentError, match=r"mend: config\.update\('debug_nans', True\)"):
        fresh.debug_nans = True


def test_options_are_listed(fresh):
    assert {"debug_nans", "update", "override"} <= set(dir(fresh))
    assert "debug_nans=False" in repr(fresh)


def test_overrides_nest_and_unwind():
    with config.override(debug_nans=True):
        with config.override(jax_debug_nans=False, disable_jit=True):
            assert (config.debug_nans, config.disable_jit) == (False, True)
        assert (config.debug_nans, config.disable_jit) == (True, False)
    assert (config.debug_nans, config.disable_jit) == (False, False)


def test_override_unwinds_on_an_exception():
    with pytest.raises(KeyError), config.override(debug_nans=True):
        raise KeyError
    assert config.debug_nans is False


def test_override_refuses_before_it_sets():
    with pytest.raises(ArgumentError), config.override(debug_nans=True, enable_x64=False):
        pass
    assert config.debug_nans is False


def test_override_belongs_to_its_thread():
    seen = []
    with config.override(debug_nans=True):
        thread = threading.Thread(target=lambda: seen.append(config.debug_nans))
        thread.start()
        thread.join()
    assert seen == [False]


def test_override_belongs_to_its_task():
    async def overriding(entered, read):
        with config.override(debug_nans=True):
            entered.set()
            await read.wait()
            return config.debug_nans

    async def reading(entered, read):
        await entered.wait()
        value = config.debug_nans
        read.set()
        return value

    async def both():
        entered, read = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(overriding(entered, read), reading(entered, read))

    assert asyncio.run(both()) == [True, False]


def test_update_reaches_other_threads():
    seen = []
    config.update("disable_jit", True)
    try:
        thread = threading.Thread(target=lambda: seen.append(config.disable_jit))
        thread.start()
        thread.join()
    finally:
        config.update("disable_jit", False)
    assert seen == [True]


def test_objects_are_separate(fresh):
    fresh.update("debug_nans", True)
    assert config.debug_nans is False


def test_watchers_hear_of_the_first_use_and_of_the_last(fresh):
    heard = []
    fresh.watch("debug_nans", lambda: heard.append(fresh.used("debug_nans")))
    fresh.update("debug_nans", True)
    fresh.update("debug_nans", True)
    with fresh.override(debug_nans=True), fresh.override(debug_nans=False):
        fresh.update("debug_nans", False)
        assert heard == [True]
    assert heard == [True, False]
