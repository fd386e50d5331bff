"""Where a study goes on: what this machine saw of it last, kept outside its folder."""
