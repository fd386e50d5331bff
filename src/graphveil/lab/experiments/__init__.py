"""Experiments: the paper's protocol and its candidates, ours beside them, and what results say."""
