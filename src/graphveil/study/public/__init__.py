"""What the public is told: typed facts in a chain, read back by anybody."""
