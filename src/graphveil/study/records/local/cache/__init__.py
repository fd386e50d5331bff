"""What is kept of the sealed steps, so that a command costs what is new and not what is there.

The segments are what was sealed, and everything here follows from them: columns that are mapped
instead of parsed, and where every count stands. What is missing, damaged or of another version is
left aside, and made anew from the segments (`docs/durability.md#what-is-kept-beside-the-segments`).
"""
