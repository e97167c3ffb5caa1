"""Groups depend on the parts and on where they lie, and results on the groups alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ritz.rows import as_rows
from ritz.rows.dask import groups
from ritz.rows.dask.groups import bundles, cut, folded, starts_of
from ritz.rows.dask.parts import Chunk


def level_by_level(combine, items, size):
    """The tree as a cluster builds it, with tasks for bundles of that size."""
    while len(items) > 1:
        items = [folded(combine, bundle) for bundle in bundles(items, size)]
    return items[0]


@pytest.mark.parametrize("count", [*range(1, 20), 64, 65, 83])
def test_a_tree_in_passing_is_the_tree_of_bundles(count):
    letters = [f"{i}," for i in range(count)]
    join = "({}{})".format
    expected = folded(join, iter(letters))
    assert {level_by_level(join, letters, size) for size in (2, 4, 8)} == {expected}


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.lists(st.sampled_from(["", "one", "two"]), min_size=40, max_size=40),
    st.integers(1, 200),
)
def test_groups_hold_every_part_once_in_order_and_of_one_home(sizes, homes, enough):
    parts = [Chunk(f"chunk {i}", rows, i) for i, rows in enumerate(sizes)]
    homes, starts = homes[: len(parts)], starts_of(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "GROUP_BYTES", enough)
        found = cut(parts, starts, 1.0, homes)
    assert sorted(part.key for group in found for part in group.parts) == list(range(len(parts)))
    for group in found:
        keys = [part.key for part in group.parts]
        assert keys == sorted(keys)
        assert {homes[key] for key in keys} == {group.home}
        assert group.ranges == [(starts[key], starts[key + 1]) for key in keys]
        assert group.rows - group.parts[-1].rows < enough  # nothing joins a group that is large enough


def test_however_much_data_there_is_groups_are_not_too_many(monkeypatch):
    monkeypatch.setattr(groups, "MOST", 8)
    parts = [Chunk(f"chunk {i}", 1000, i) for i in range(1000)]
    assert len(cut(parts, starts_of(parts), 1e9, [""] * 1000)) <= 8


def test_a_pass_pairs_blocks_with_what_stands_beside_them():
    X = np.arange(60.0).reshape(20, 3)
    parts = tuple(Chunk(f"chunk {i}", 5, "x", {"x": X[5 * i : 5 * i + 5]}) for i in (3, 0))
    group = groups.Group(parts, (15, 0))
    whole = as_rows(X)
    job = groups.Pass(list, None, 2, whole)
    pairs = job(group, {}, groups.beside_parts(group, X[:, 0]))
    assert np.concatenate([block for block, _ in pairs]).shape == (10, 3)
    for block, values in pairs:
        assert np.array_equal(block[:, 0], values)
