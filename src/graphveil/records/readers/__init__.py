"""File formats: each file has those of one program, and registers them."""
