"""The report: a page, charts, a table and a privacy card, from the public part alone."""
