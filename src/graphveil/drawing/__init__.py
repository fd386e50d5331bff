"""The one way to draw: SVG as text, the same bytes on every machine, and plots on two scales."""
