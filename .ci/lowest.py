"""The lowest versions that pyproject.toml promises, one requirement a line: `numpy>=2.0` becomes `numpy==2.0`.

python .ci/lowest.py           # what users install, at its lowest
python .ci/lowest.py --test    # what the tests need beside it, as it stands
"""

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


def tests(text: str) -> list[str]:
    """The extra `test`."""
    return list(tomllib.loads(text)["project"]["optional-dependencies"]["test"])


if __name__ == "__main__":
    listed = tests if "--test" in sys.argv[1:] else lowest
    sys.stdout.write("\n".join(listed(PROJECT.read_text("utf-8"))) + "\n")
