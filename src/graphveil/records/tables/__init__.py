"""Tables: bytes of any kind become rows of cells, each of which knows its place."""
