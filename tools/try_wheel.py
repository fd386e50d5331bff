"""A wheel is installed outside the clone and used: demo, the steward's page, and verification.

    python tools/try_wheel.py dist/graphveil-*.whl

Nothing of the clone is within reach: the environment is new, and so is the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

PORT = 8631
PATIENCE = 60  # seconds until the page answers


def main() -> None:
    """Try the wheel that the command line names."""
    wheel = Path(sys.argv[1]).resolve()
    with TemporaryDirectory() as folder:
        home = Path(folder)
        scripts = _installed(wheel, home / "env")
        environment = {**os.environ, "GRAPHVEIL_STATE": str(home / "state")}
        environment.pop("PYTHONPATH", None)

        def graphveil(*arguments: str) -> list[str]:
            print("$ graphveil", *arguments, flush=True)
            return [str(scripts / "graphveil"), *arguments]

        work = home / "work"
        work.mkdir()
        subprocess.run(graphveil("--version"), cwd=work, env=environment, check=True)
        subprocess.run(graphveil("demo", "--quiet"), cwd=work, env=environment, check=True)
        study = work / "graphveil-demo"
        shutil.copytree(study / "public", home / "readers-copy")
        for part in (study, home / "readers-copy"):
            subprocess.run(graphveil("verify", str(part)), cwd=work, env=environment, check=True)
        command = graphveil("serve", str(work), "--port", str(PORT), "--no-open")
        serving = subprocess.Popen(command, cwd=work, env=environment)
        try:
            _require_answer()
        finally:
            serving.terminate()
            serving.wait()
    print(f"{wheel.name} works outside the clone.")


def _installed(wheel: Path, home: Path) -> Path:
    """The scripts of a new environment that has this wheel, and what its page needs."""
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", f"{wheel}[web]"]
    subprocess.run(pip, cwd=home, check=True)
    return scripts


def _require_answer() -> None:
    """Wait until the page is there; without its key, it says so."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            urlopen(f"http://127.0.0.1:{PORT}/", timeout=5).close()
        except URLError as error:
            if getattr(error, "code", None) is not None:  # it is there, and wants the key
                return
            time.sleep(0.2)
        else:
            return
    sys.exit("The page did not answer.")


if __name__ == "__main__":
    main()
