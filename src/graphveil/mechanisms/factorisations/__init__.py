"""Factorisations: matrices B·C = A, what is measured and how it is decoded."""
