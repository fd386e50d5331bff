"""Kernels: how compiled code is built, cached and run on several threads."""
