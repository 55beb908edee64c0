"""Branches and loops under every transform."""
