"""Where a study is stored: its folder, its database, one writer at a time."""
