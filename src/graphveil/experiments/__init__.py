"""Experiments: the paper's tables and figures, on data whose true values are known."""
