"""The pages are executed: what they show is what happens."""

from pathlib import Path

import pytest

from helpers.documents import check_code, check_commands

DOCS = Path(__file__).parents[1]
FOLDERS = ("", "guide", "solvers", "theory", "lessons")
PAGES = [page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))]
TYPED = [page for page in PAGES if "```console" in page.read_text("utf-8")]
NAMES = [str(page.relative_to(DOCS)) for page in PAGES]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """BLAS in one thread, for many small problems: threads that spin for cores other workers use are very slow."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_code(page):
    check_code(page)


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.stem)
def test_commands(page, tmp_path):
    check_commands(page, tmp_path)
