"""The local page for the steward: forms that call `steward/`, for one browser on this machine.

`server` binds and runs; `application` puts the parts together; `safety/` decides who may ask for
what; `pages/` has one page a file; `work` runs what takes its time, one piece after the other.
"""
