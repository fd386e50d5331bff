"""What a steward does with files of records."""
