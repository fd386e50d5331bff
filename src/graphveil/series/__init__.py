"""Series: the one path of a release, from a count to what is published."""
