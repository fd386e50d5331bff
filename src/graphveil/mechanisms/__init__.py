"""Mechanisms: integer noise, correlated over time, with its error known in advance."""
