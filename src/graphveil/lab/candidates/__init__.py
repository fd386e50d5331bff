"""Candidates: everything that publishes a subject in an experiment, the paper's and ours."""
