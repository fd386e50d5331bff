"""The growing graph: records are resolved, added and stored in columns; bounds and projections."""
