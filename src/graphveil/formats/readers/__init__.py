"""File formats: each module is one, and registers it."""
