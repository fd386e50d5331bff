"""The growing graph: bounds, calendar, columns, intake and projection."""
