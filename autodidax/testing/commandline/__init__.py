"""`python -m autodidax check`: what is checked, in which processes, and how it is told."""
