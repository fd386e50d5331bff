"""Words of the page: messages name options of the command line, and here they have labels."""

from __future__ import annotations

import re

# What the shell calls an option, and the label of its field here.
LABELS = {
    "all-listed": "“HIV-TRACE lists everybody”",
    "bound": "“Links of a person, at most”",
    "change-reading": "“Read differently from now on”",
    "day-first": "“Day first”",
    "delta": "“δ”",
    "distance": "“Distance”",
    "early": "“Seal it although it has not ended”",
    "edge-time": "“Date of a link”",
    "encoding": "“Encoding”",
    "epsilon": "“ε in all”",
    "excel-dates": "“Plain numbers are days as Excel counts them”",
    "expected": "“Expected size”",
    "first": "“First step”",
    "format": "“Format”",
    "hubs": "“Hubs”",
    "id": "“Person”",
    "ignore-after-end": "“Leave out records dated after the last step”",
    "in-bound": "“Links to a person, at most”",
    "last": "“Number of releases”",
    "limit": "the limit of `graphveil serve --limit`",
    "max-distance": "“Linked up to this distance”",
    "month-first": "“Month first”",
    "out-bound": "“Links from a person, at most”",
    "price": "“Price”",
    "reason": "“Why”",
    "abandon": "“Give these records up”",
    "source": "“One end of a link”",
    "strict": "“Refuse everything at the first row that breaks a rule”",
    "target": "“Other end of a link”",
    "through": "“Up to which step”",
    "time": "“Date of a person”",
    "undated": "“People without a date”",
    "withdraw": "“Withdraw batch”",
    "where": "“Only records with”",
    "yes": "“Begin it although noise drowns a series”",
}
_IN_PYTHON = re.compile(r" \(in Python: [^)]*\)|, [a-z_]+= in Python| in the shell")
_OPTION = re.compile(r"--([a-z][a-z-]*)")
_COMMANDS = {
    "`graphveil adopt`": "“Safekeeping”",
    "`graphveil extend`": "`graphveil extend` in a terminal",
    "`graphveil formats`": "the table of formats in the documentation",
    "`graphveil publish`": "“Publish”",
    "`graphveil report`": "“Write the page again” under “Public page”",
}


def in_page_words(message: str) -> str:
    """A message with the labels of this page in the place of options and commands."""
    text = _IN_PYTHON.sub("", message)
    for command, label in _COMMANDS.items():
        text = text.replace(command, label)
    return _OPTION.sub(lambda match: LABELS.get(match[1], match[0]), text)


def figure(number: float) -> str:
    """A predicted error, with as many digits as mean anything."""
    from graphveil.mechanisms.planning.usefulness import rounded

    return f"±{rounded(number)}"
