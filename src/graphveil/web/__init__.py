"""The local page for the steward: forms that call `steward/`, for one browser on this machine.

`server` binds and runs; `guard` decides who may ask for what; `site` is what all pages share;
`pages/` has one subject a file.
"""
