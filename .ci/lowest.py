"""The lowest versions that pyproject.toml promises, one requirement a line: `numpy>=2.0` becomes `numpy==2.0`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest(text: str) -> list[str]:
    """What the package needs, and what its extras for users add, each at its lowest version."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    users = re.fullmatch(r"ritz\[(.*)\]", extras["all"][0])
    if users is None:
        raise SystemExit(f"expected the extra `all` to name other extras, found {extras['all']}")
    wanted = project["dependencies"] + [need for name in users[1].split(",") for need in extras[name]]
    unbounded = [need for need in wanted if ">=" not in need]
    if unbounded:
        raise SystemExit(f"expected a lowest version of every requirement, found none for {', '.join(unbounded)}")
    return [need.replace(">=", "==") for need in wanted]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest(PROJECT.read_text("utf-8"))) + "\n")
