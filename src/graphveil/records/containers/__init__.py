"""Containers: what holds tables and is no plain file: workbooks, databases, R's data."""
