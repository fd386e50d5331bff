"""What a steward does, one module per task, as functions that take and return plain values.

`study` has all of them as one object, `graphveil.Study`, for those who work in Python.

Nothing in here prints, asks or knows a terminal: the command line and the local web page are
two faces of it. The order of the work: `drafting` a promise with its predicted errors
(`outlook`), `adding` records, `publishing` steps, opening a further `series`; and, at any time,
`status`, `reporting` and `verifying`.
"""
