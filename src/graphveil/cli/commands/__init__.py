"""The commands; kin share a file, as `KIN` in `graphveil.cli` says."""
