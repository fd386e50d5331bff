"""The calendar: public times become steps."""
