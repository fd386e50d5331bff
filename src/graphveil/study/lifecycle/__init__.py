"""What changes the course of a study: opening it, one more series, more steps, another place."""
