"""The records of a study: added, waiting, and sealed in private tables."""
