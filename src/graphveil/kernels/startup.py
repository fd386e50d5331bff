"""Start-up: what a short-lived process need not load."""

from __future__ import annotations

import sys


def load_kernels_without_blas() -> None:
    """Load numba as our kernels need it, without SciPy's linear algebra.

    With its first kernel numba looks for BLAS in SciPy, which takes a quarter of a second
    and serves no kernel of ours. Only for processes that are all ours, as a command's is:
    in a user's process it would take BLAS away from the user's own kernels.
    """
    if "scipy.linalg" in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # looks absent
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules["scipy.linalg"]
