"""What every answer says: store nothing, load nothing from elsewhere, run only our scripts."""

from __future__ import annotations

_OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# The published page brings its style with it, runs nothing, and is shown within our own alone.
PUBLISHED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; sandbox allow-downloads"
)
POLICY = "content-security-policy"
ALWAYS = {
    "cache-control": "no-store",
    POLICY: _OWN,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # without any, browsers would not say where a form is from
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}


def completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that every answer has; what it says itself counts."""
    said = {name.lower() for name, _ in headers}
    more = ((name.encode(), text.encode()) for name, text in ALWAYS.items())
    return [*headers, *((name, text) for name, text in more if name not in said)]
