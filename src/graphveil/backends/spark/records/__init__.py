"""Records that stay with the workers of a cluster: the driver holds integers and names of files."""
