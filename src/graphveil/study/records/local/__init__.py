"""Records that fit this machine: batches, segments and the graph that they make, in memory."""
