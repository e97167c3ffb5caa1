"""Pythons of this machine that are newer than the one the package asks for, one of each version, the path a line.

They are looked for on PATH and among those of pyenv. A shim may stand for a version that is not active: what does not
run, cannot make an environment, is a preview or has no global lock is left out.

    python .ci/pythons.py         # all that are newer
    python .ci/pythons.py 3.11    # that one
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

LOWEST = 11  # of requires-python: the whole suite runs there
ASK = (
    "import ensurepip, sys, sysconfig, venv\n"
    "usable = sys.version_info.releaselevel == 'final' and not sysconfig.get_config_var('Py_GIL_DISABLED')\n"
    "print(*sys.version_info[:2] if usable else (0, 0))"
)


def candidates() -> list[Path]:
    """Whatever is called python3.N, where they are usually put."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    roots = [os.environ.get("PYENV_ROOT"), said(["pyenv", "root"]), str(Path.home() / ".pyenv")]
    folders += [folder for root in roots if root for folder in sorted(Path(root).glob("versions/*/bin"))]
    return [path for folder in folders for path in sorted(folder.glob("python3.*")) if minor(path.name) is not None]


def minor(name: str) -> int | None:
    """N of python3.N."""
    found = re.fullmatch(r"python3\.(\d+)", name)
    return int(found[1]) if found else None


def said(command: list[str]) -> str:
    """What a command prints, nothing where it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def found() -> dict[int, Path]:
    """The first of every version that works."""
    working: dict[int, Path] = {}
    for path in candidates():
        version = minor(path.name)
        if version is not None and version not in working and said([str(path), "-c", ASK]) == f"3 {version}":
            working[version] = path
    return dict(sorted(working.items()))


if __name__ == "__main__":
    wanted = [minor(f"python{version}") for version in sys.argv[1:]]
    for version, path in found().items():
        if version in wanted or (not wanted and version > LOWEST):
            print(path)
