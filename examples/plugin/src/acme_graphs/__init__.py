"""An example of a plug-in for graphveil: one statistic and one file format."""
