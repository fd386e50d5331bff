"""Start-up: what a short-lived process need not load."""

from __future__ import annotations

import sys


def load_kernels_without_blas() -> None:
    """Load numba as our kernels need it, without SciPy.

    When it is imported, numba asks for the version of SciPy, and with its first kernel it looks
    for BLAS there, which takes a quarter of a second and serves no kernel of ours. Only for
    processes that are all ours, as a command's is: in a user's process it would take BLAS away
    from the user's own kernels.
    """
    if "scipy" in sys.modules or "numba" in sys.modules:
        return
    sys.modules["scipy"] = None  # type: ignore[assignment]  # looks absent
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules["scipy"]
