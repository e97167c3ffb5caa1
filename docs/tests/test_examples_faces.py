"""The example of eigenfaces: its numbers are held against LAPACK and scikit-learn."""

import numpy as np
import pytest
from docs.tests.running import rest, run, svd


def test_eigenfaces_recognition():
    """The same by scikit-learn's neighbours, and with Mahalanobis' distance for changes of one person."""
    from sklearn.neighbors import KNeighborsClassifier

    example = run("eigenfaces")
    mean, _, Vt = svd(example.X)
    Y, Y_new = (example.X - mean) @ Vt[:40].T, (example.new - mean) @ Vt[:40].T

    def right(points, new, **metric):
        model = KNeighborsClassifier(1, algorithm="brute", **metric).fit(points, example.person)
        return model.score(new, example.person_of_new)

    assert example.right_by_pixels == right(example.X, example.new)
    for k, by_scores, within in zip(example.counts, example.right_by_scores, example.right_within, strict=True):
        assert by_scores == right(Y[:, :k], Y_new[:, :k])
        if k in (5, 20, 40):
            means = np.stack([Y[example.person == who, :k].mean(axis=0) for who in range(20)])
            inverse = np.linalg.inv(np.cov((Y[:, :k] - means[example.person]).T))
            assert within == right(Y[:, :k], Y_new[:, :k], metric="mahalanobis", metric_params={"VI": inverse})
    twenty = example.counts.index(20)
    assert example.right_by_scores[twenty] >= example.right_by_pixels > 0.5
    assert example.right_within[twenty] > example.right_by_pixels + 0.15
    assert example.right_without_first == right(Y[:, 3:20], Y_new[:, 3:20]) < example.right_by_pixels


def test_eigenfaces_first_axes_are_skin_hair_and_light():
    example = run("eigenfaces")
    rows = example.known & (example.view < 4)
    parts = [example.faces.parameters[name][rows] for name in ("skin", "hair", "light_azimuth")]
    A = np.column_stack([np.ones(80), *parts])
    for i in range(3):
        y = example.scores[:, i]
        left = y - A @ np.linalg.lstsq(A, y)[0]
        assert 1 - np.sum(left**2) / np.sum((y - y.mean()) ** 2) > 0.5


def test_eigenfaces_is_it_a_face():
    example = run("eigenfaces")
    mean, _, Vt = svd(example.X)

    def left_over(pictures):
        spread = pictures - pictures.mean(axis=1, keepdims=True)
        return rest(pictures, mean, Vt[:40]) / np.sum(spread**2, axis=1)

    strangers, others = left_over(example.strangers), {name: left_over(p) for name, p in example.others.items()}
    assert np.allclose(example.left_over(example.strangers), strangers, rtol=1e-9)
    pairs = np.concatenate(list(others.values()))[:, None] > strangers
    assert example.auc == pytest.approx(pairs.mean(), abs=1e-12)
    assert example.auc > 0.99
    assert example.accepted["strangers"] == np.mean(strangers <= example.threshold) >= 0.9
    assert [example.accepted[name] for name in others] == [0, 0, 0]
