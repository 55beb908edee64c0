"""Record JAX's numbers for the draws of `draws.py`: run `python -m tests.random.record` where JAX is installed."""

from pathlib import Path

import jax
import numpy as np

from tests.random.draws import SEED, all_draws

FILE = Path(__file__).with_name("recorded.npz")

if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    assert jax.config.jax_threefry_partitionable
    numbers = {name: np.asarray(draw(jax.random, jax.random.key(SEED))) for name, draw in all_draws().items()}
    np.savez_compressed(FILE, **numbers, **{"made by": np.array(f"jax {jax.__version__}, seed {SEED}")})
    print(f"{len(numbers)} draws, {FILE.stat().st_size} bytes")
