"""The checker of derivative, batching and staging rules."""

from autodidax.testing.batch_rules import check_vmap as check_vmap
from autodidax.testing.cases import rule_cases as rule_cases
from autodidax.testing.functions import check_grads as check_grads
from autodidax.testing.functions import check_jvp as check_jvp
from autodidax.testing.functions import check_vjp as check_vjp
from autodidax.testing.jacobians import numerical_jacobian as numerical_jacobian
from autodidax.testing.jacobians import numerical_jvp as numerical_jvp
from autodidax.testing.points import POINTS as POINTS
from autodidax.testing.primitives import check_primitive as check_primitive
