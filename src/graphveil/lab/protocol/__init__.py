"""The protocol of the paper: what is published, by which mechanisms, and how far off it is."""
