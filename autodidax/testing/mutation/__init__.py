"""Mutation testing of rules: each made wrong in many ways, one at a time, to see that the check notices."""
