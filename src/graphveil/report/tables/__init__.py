"""The tables of a report, for programs and on the page."""
