"""The version of a build: the next one to be released, and how far the code has come since.

`0.2.0.dev631+g1a2b3c4d` is the 631st commit on the way to 0.2.0; a commit with the tag `v0.2.0` is
0.2.0 itself. Made when a wheel, an sdist or an editable installation is built, without a tag being
needed; an sdist, which has no history, carries the version that it was made with.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

NEXT = "0.2.0"
ROOT = Path(__file__).resolve().parents[1] if "__file__" in globals() else Path.cwd()


def version(root: Path = ROOT) -> str:
    """Of the files in a folder."""
    packed = root / "PKG-INFO"
    if packed.exists():
        lines = packed.read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line.startswith("Version: ")).removeprefix(
            "Version: "
        )
    if not (root / ".git").exists():
        return f"{NEXT}.dev0"
    if _git(root, "tag", "--points-at", "HEAD", "--list", f"v{NEXT}"):
        return NEXT
    commits, commit = _git(root, "rev-list", "--count", "HEAD"), _git(root, "rev-parse", "HEAD")
    return f"{NEXT}.dev{commits}+g{commit[:8]}" if commits and commit else f"{NEXT}.dev0"


def _git(root: Path, *arguments: str) -> str:
    """What git says of the commit at hand; nothing where there is no git."""
    try:
        command = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
