"""What is published: typed facts in a chain, which anybody can read back."""
