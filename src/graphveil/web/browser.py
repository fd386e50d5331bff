"""The steward's browser is opened at the page, without showing its token to other users.

What a browser is called with, everybody on the machine can list. So it is handed a file that only
its owner may read, and that leads on.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from graphveil.study.storage.folder import write_private
from graphveil.web.rendering import rendered


@contextmanager
def opening(address: str) -> Iterator[None]:
    """Open a browser there; where there is none, the address on the terminal does."""
    with TemporaryDirectory(prefix="graphveil-serve-") as folder:  # for its owner only
        file = Path(folder) / "open.html"
        write_private(file, rendered("opening.html.jinja", address=address).encode())
        with suppress(webbrowser.Error):
            webbrowser.open(file.as_uri())
        yield
