"""The growing graph: records are resolved, taken in and kept in columns; bounds and projections."""
