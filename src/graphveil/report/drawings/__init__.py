"""The pictures of the page, drawn as SVG without a layout engine, which would take seconds."""
