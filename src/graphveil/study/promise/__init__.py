"""What a study promises the public: the entries of its file, checked as they are read."""
