"""Statistics: what is counted, and how far one person can move it."""
