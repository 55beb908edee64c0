"""scipy.integrate: `odeint` with the signature of jax.experimental.ode, differentiable."""

from autodidax.control_flow.ode import odeint

__all__ = ["odeint"]
