"""File formats: each file or folder is one, and registers it."""
