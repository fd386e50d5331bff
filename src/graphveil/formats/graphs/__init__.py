"""Graphs as single documents: GraphML, GEXF and Pajek share what follows their parsing."""
