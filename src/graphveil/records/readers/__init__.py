"""File formats: each file or folder has those of one program, and registers them."""
