"""Columns: which of the user's columns is which of ours, and what the dates in them say."""
