"""Products with few columns, in pieces and by all cores, against plain NumPy."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from helpers.counts import usually
from ritz.linalg.dense import add_squares, add_upper, add_upper_squares, cross, mirrored, times
from ritz.rows.memory.array import symmetric_product, thin_inner, thin_product

LAYOUTS = {
    "C": lambda A: A,
    "Fortran": np.asfortranarray,
    "transposed": lambda A: np.ascontiguousarray(A.T).T,
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda A: np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1],
    "columns of a wider one": lambda A: np.column_stack([A, A])[:, : A.shape[1]],
    "read-only": lambda A: np.frombuffer(A.tobytes(), A.dtype).reshape(A.shape),
}
# Around the sizes at which pieces, blocks and threads begin and end.
ROWS = st.one_of(st.integers(1, 40), st.sampled_from([100, 255, 257, 1000, 1303]))
COLUMNS = st.one_of(st.integers(1, 70), st.sampled_from([128, 129, 500, 1303, 2700]))
FEW = st.one_of(st.integers(1, 70), st.sampled_from([1, 8, 16, 63, 64, 65]))
DTYPES = st.sampled_from([np.float64, np.float32])
LAYOUT = st.sampled_from(sorted(LAYOUTS))


def draw(rng, shape, dtype, layout):
    return LAYOUTS[layout](rng.standard_normal(shape).astype(dtype))


def check(product, A, B):
    """product = A B to the rounding of its own dtype: |error| ≤ 2 (terms + 8) u |A| |B|, entry by entry."""
    assert product.shape == (A.shape[0], B.shape[1])
    assert product.dtype == np.result_type(A, B)
    A, B = A.astype(np.float64), B.astype(np.float64)
    bound = 2 * (A.shape[1] + 8) * np.finfo(product.dtype).eps / 2 * (np.abs(A) @ np.abs(B))
    assert (np.abs(product - A @ B) <= bound).all()


many = settings(max_examples=usually(40, thorough=100), deadline=None, phases=[Phase.generate])


@many
@given(m=ROWS, d=COLUMNS, b=FEW, dtypes=st.tuples(DTYPES, DTYPES), layouts=st.tuples(LAYOUT, LAYOUT))
def test_times(m, d, b, dtypes, layouts):
    rng = np.random.default_rng([m, d, b])
    Z, Q = draw(rng, (m, d), dtypes[0], layouts[0]), draw(rng, (d, b), dtypes[1], layouts[1])
    before = Z.tobytes(), Q.tobytes()
    check(times(Z, Q), Z, Q)
    assert (Z.tobytes(), Q.tobytes()) == before


@many
@given(m=ROWS, d=COLUMNS, b=FEW, dtypes=st.tuples(DTYPES, DTYPES), layouts=st.tuples(LAYOUT, LAYOUT))
def test_cross(m, d, b, dtypes, layouts):
    rng = np.random.default_rng([m, d, b])
    Z, Y = draw(rng, (m, d), dtypes[0], layouts[0]), draw(rng, (m, b), dtypes[1], layouts[1])
    before = Z.tobytes(), Y.tobytes()
    check(cross(Z, Y), Z.T, Y)
    assert (Z.tobytes(), Y.tobytes()) == before


@pytest.mark.parametrize(("m", "d", "b"), [(3, 200_000, 64), (70_000, 3, 1), (40_000, 64, 2), (1, 90_000, 1)])
def test_long_and_wide(m, d, b):
    rng = np.random.default_rng(0)
    Z, Q, Y = (rng.standard_normal(shape) for shape in ((m, d), (d, b), (m, b)))
    check(times(Z, Q), Z, Q)
    check(cross(Z, Y), Z.T, Y)


@many
@given(
    blocks=st.lists(st.one_of(st.integers(1, 50), st.sampled_from([700, 1536, 2048])), min_size=1, max_size=3),
    d=st.one_of(st.integers(1, 70), st.sampled_from([100, 150, 161, 300])),
    dtype=DTYPES,
    layout=LAYOUT,
)
def test_add_squares_sums_over_blocks_into_memory_that_was_not_initialised(blocks, d, dtype, layout):
    rng = np.random.default_rng([d, *blocks])
    Z = rng.standard_normal((sum(blocks), d)).astype(dtype)
    total = np.full((d, d), np.nan, dtype)
    start = 0
    for m in blocks:
        block = LAYOUTS[layout](Z[start : start + m])
        before = block.tobytes()
        add_squares(block, total, keep=start > 0)
        assert block.tobytes() == before
        start += m
    other = np.full((d, d), np.nan)
    other[np.triu_indices(d)] = 1.0
    add_upper(total, other)
    wide = Z.astype(np.float64)
    bound = 2 * (len(Z) + 8) * np.finfo(dtype).eps / 2 * (np.abs(wide).T @ np.abs(wide))
    for found, offset in ((mirrored(total), 0.0), (mirrored(other), 1.0)):
        assert (np.abs(found - offset - wide.T @ wide) <= bound + 4 * np.finfo(np.float64).eps).all()
        np.testing.assert_array_equal(found, found.T)


def test_squares_in_place_touch_nothing_below_the_diagonal():
    Z = np.random.default_rng(0).standard_normal((40, 300))
    total = np.full((300, 300), np.pi)
    add_upper_squares(Z, total, keep=True)
    assert (total[np.tril_indices(300, -1)] == np.pi).all()
    np.testing.assert_allclose(np.triu(total), np.triu(np.pi + Z.T @ Z), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("keep", [True, False])
def test_squares_in_place_without_the_routine(keep, monkeypatch):
    monkeypatch.setattr("ritz.linalg.dense._routine", lambda name: None)
    Z = np.random.default_rng(0).standard_normal((40, 7))
    total = np.ones((7, 7))
    add_upper_squares(Z, total, keep=keep)
    np.testing.assert_allclose(np.triu(total), np.triu(Z.T @ Z + keep), atol=1e-13)


@pytest.mark.parametrize(
    ("Z", "total"),
    [
        (np.ones((4, 3)), np.zeros((2, 2))),
        (np.ones((4, 3)), np.zeros((3, 3), np.float32)),
        (np.ones((4, 6))[:, ::2], np.zeros((3, 3))),
        (np.ones((4, 3)), np.zeros((6, 6))[::2, ::2]),
        (np.ones((4, 3)), np.zeros((3, 2))),
        (np.ones((4, 3), ">f8"), np.zeros((3, 3), ">f8")),
        (np.ones(3), np.zeros((3, 3))),
    ],
)
def test_squares_in_place_refuse_memory_they_would_misread(Z, total):
    with pytest.raises(ValueError, match="in place"):
        add_upper_squares(Z, total, keep=True)


@settings(max_examples=usually(20, thorough=40), deadline=None, phases=[Phase.generate])
@given(
    n=st.one_of(st.integers(1, 300), st.sampled_from([2047, 5000])),
    m=st.one_of(st.integers(1, 70), st.sampled_from([100, 150])),
    b=FEW,
    dtype=DTYPES,
    layouts=st.tuples(LAYOUT, LAYOUT),
)
def test_products_by_all_cores(n, m, b, dtype, layouts):
    rng = np.random.default_rng([n, m, b])
    Q, S, W = (draw(rng, shape, dtype, layouts[i > 0]) for i, shape in enumerate([(n, m), (m, b), (n, b)]))
    check(thin_product(Q, S), Q, S)
    check(thin_inner(Q, W), Q.T, W)
    square = symmetric_product(Q)
    check(square, Q.T, Q)


def test_products_by_all_cores_have_the_same_bits_for_any_number_of_threads(monkeypatch, blas_as_it_is):
    rng = np.random.default_rng(0)
    Q, S, W = rng.standard_normal((60_000, 40)), rng.standard_normal((40, 8)), rng.standard_normal((60_000, 8))
    results = []
    for workers in (1, 2, 3):
        monkeypatch.setattr("ritz.runtime.threads.Pin._allowed", lambda pin, workers=workers: workers)
        results.append((thin_product(Q, S), thin_inner(Q, W), symmetric_product(Q)))
    for other in results[1:]:
        for part, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(part, expected)
