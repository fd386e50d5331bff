"""Where a study is kept: its folder, its database, one writer at a time."""
