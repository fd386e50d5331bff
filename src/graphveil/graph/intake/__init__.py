"""The one intake: records are read as people and steps, checked row by row, and appended."""
