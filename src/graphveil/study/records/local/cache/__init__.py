"""The cache of the sealed steps: with it, the cost of a command depends on the new records only.

The segments are what was sealed, and everything here follows from them: columns that are mapped
instead of parsed, and the state of every count. What is missing, damaged or of another version is
ignored, and made anew from the segments (`docs/durability.md#what-is-kept-beside-the-segments`).
"""
