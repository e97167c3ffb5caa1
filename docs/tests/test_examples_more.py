"""More examples: each is run once, and its numbers are held against formulas, LAPACK or scikit-learn."""

import numpy as np
import pytest
from docs.tests.running import rest, run, svd

EPSILON = np.finfo(float).eps


def test_denoising():
    example = run("denoising")
    digits = np.random.default_rng(0).permutation(load("digits").data / 16)
    values = np.linalg.eigvalsh(np.cov(digits[:1200].T))[::-1]
    assert example.above_noise == np.sum(values > 0.25**2)
    assert abs(example.best_k - example.above_noise) <= 1
    expected = np.array([(values[k:].sum() + k * 0.25**2) / 64 for k in example.counts])
    assert np.allclose(example.expected_errors, expected, rtol=1e-9)
    assert np.allclose(example.errors, expected, rtol=0.05)  # those digits are new, and few
    assert min(example.errors[0], example.errors[-1]) > 2 * example.errors.min()
    assert example.error_of_noisy == pytest.approx(0.25**2, rel=0.02)
    assert 3 < example.gain_in_decibels < 4.5


def test_denoising_corrupted_pixels():
    """The normal equations (UᵀU)⁻¹Uᵀx with the intact rows of U, as they are written."""
    example = run("denoising")
    mean, _, Vt = svd(example.X)
    U = Vt[:20].T
    solved = []
    for x, lost in zip(example.corrupted, example.lost, strict=True):
        part = U[~lost]
        solved.append(mean + U @ np.linalg.inv(part.T @ part) @ part.T @ (x - mean)[~lost])
    assert np.allclose(example.repaired, solved, atol=1e-8)
    assert np.array_equal(example.corrupted[~example.lost], example.clean[~example.lost])
    errors = example.errors_of
    assert errors["projected, nothing lost"] == pytest.approx(rest(example.clean, mean, U.T).mean() / 1600, rel=1e-9)
    assert errors["projected, nothing lost"] <= errors["least squares"] < 1.1 * errors["projected, nothing lost"]
    assert errors["least squares"] < errors["projected"] / 4 < errors["corrupted"] / 40


def load(name):
    """A data set of scikit-learn."""
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")()


def test_clustering():
    example = run("clustering")
    _, _, Vt = svd(example.X)
    for points, share in ((example.X, example.share_before), ((example.X @ Vt[:5].T), example.share_after)):
        within = sum(np.sum((p - p.mean(axis=0)) ** 2) for p in (points[example.group == g] for g in range(6)))
        assert share == pytest.approx(1 - within / np.sum((points - points.mean(axis=0)) ** 2), rel=1e-9)
    assert example.share_before < 0.05 < 0.65 < example.share_after
    assert example.agreement_before < 0.6 < 0.8 < example.agreement_after
    assert example.agreements[-1] == pytest.approx(example.agreement_before, abs=0.1)  # all distances are kept
    assert (np.diff(example.agreements[:5]) > 0.05).all()  # six centres, equally far apart, need five dimensions
    assert np.linalg.matrix_rank(np.stack([example.X[example.group == g].mean(axis=0)[:10] for g in range(6)])) == 6
    by_count = dict(zip(example.counts, example.agreements_of_digits, strict=False))
    assert abs(by_count[20] - example.agreement_of_pixels) < 0.04
    assert by_count[2] < example.agreement_of_pixels - 0.2


def test_retrieval():
    from sklearn.neighbors import NearestNeighbors

    example = run("retrieval")
    stored, asked = example.stored, example.asked
    mean, s, Vt = svd(stored.astype(np.float64))

    def neighbours(points, new, count):
        return NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points).kneighbors(new, return_distance=False)

    truth = neighbours(stored.astype(np.float64), asked.astype(np.float64), 10)
    assert np.mean(truth == example.truth) > 0.99  # float32 may change the places of two that are equally far
    for k in (8, 64):
        at = example.counts.index(k)
        found = neighbours((stored - mean) @ Vt[:k].T, (asked - mean) @ Vt[:k].T, 100)
        recalls = [np.mean([np.isin(t, f).mean() for t, f in zip(truth, found[:, :m], strict=True)]) for m in (10, 100)]
        assert [example.recalls[at], example.recalls_by_shortlist[at]] == pytest.approx(recalls, abs=0.005)
        assert example.kept[at] == pytest.approx(np.sum(s[:k] ** 2) / np.sum(s**2), rel=1e-4)
    assert example.work[-1] == 1
    assert example.work_by_shortlist[0] == pytest.approx(2 / 256 + 100 / 10_000, rel=1e-12)
    assert example.bytes_each == [scores_bytes(example, k) for k in example.counts]
    assert (np.diff(example.recalls) > 0).all()
    assert example.recalls[-1] > 0.99
    assert (np.array(example.recalls_by_shortlist) >= example.recalls).all()
    assert example.recalls_by_shortlist[example.counts.index(32)] > 0.98
    assert (np.array(example.recalls[:-1]) > 1.5 * np.array(example.recalls_of_columns[:-1])).all()


def scores_bytes(example, k):
    """What one row of k scores takes in memory."""
    return example.scores[0, :k].nbytes


def test_is_it_linear():
    example = run("is_it_linear")
    assert list(example.verdicts.values()) == ["linear", "curved"]
    for X, (by_pca, _) in ((example.flat, example.errors_flat), (example.curved, example.errors_curved)):
        third = len(X) // 3
        mean, _, Vt = svd(X[:third])
        judge = X[2 * third :]
        expected = [rest(judge, mean, Vt[:k]).sum() / np.sum((judge - mean) ** 2) for k in example.counts]
        assert np.allclose(by_pca, expected, rtol=1e-7)
    flat, curved = np.array(example.errors_flat), np.array(example.errors_curved)
    assert (flat[1] > flat[0]).all()
    assert (curved[1, 1:] < curved[0, 1:] / 4).all()


def test_is_it_linear_rows_of_the_fit_deceive():
    example = run("is_it_linear")
    assert example.errors_on_fit[example.tempting] < 0.7 * example.pca_on_fit
    assert example.errors_on_new[example.tempting] > 2 * example.pca_on_new
    assert min(example.errors_on_new) > example.pca_on_new  # whatever the width


def test_is_it_linear_by_pre_images_of_scikit_learn():
    """Another way back, without our refinement, comes to the same verdict at k = 2."""
    from sklearn.decomposition import KernelPCA

    example = run("is_it_linear")
    found = {}
    for name, X in (("flat", example.flat), ("curved", example.curved)):
        fit, _, judge = np.split(X, 3)
        gamma = 0.25 / np.median(((fit[:, None] - fit[None]) ** 2).sum(axis=2)[np.triu_indices(len(fit), 1)])
        model = KernelPCA(2, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=1e-6).fit(fit)
        back = model.inverse_transform(model.transform(judge))
        mean, _, Vt = svd(fit)
        found[name] = np.sum((back - judge) ** 2) / rest(judge, mean, Vt[:2]).sum()
    assert found["curved"] < 0.8 < 1 < found["flat"]


def test_power_iteration():
    example = run("power_iteration")
    assert np.allclose(example.rates, example.ratios, rtol=0.01)
    residual_of_start = [np.log(1e-6) / np.log(ratio) for ratio in example.ratios]
    assert np.allclose(example.steps, residual_of_start, rtol=0.3)  # (λ₂/λ₁)^m = tol, up to what a start is
    assert example.outside_of_plane < 1e-5
    assert example.angle_between_ends > 10
    assert [one.code for one in example.ends[0].certificate.diagnostics()] == ["tie"]
    assert example.stopped.values[0] == pytest.approx(0.9, abs=1e-9)
    assert abs(example.Q[:, 1] @ example.stopped.vectors[:, 0]) == pytest.approx(1, abs=1e-9)
    assert example.stopped.certificate.completeness == "not excluded"
    expected = np.log(EPSILON) / np.log(0.9)  # from a trace of rounding to all of the vector
    assert 0.5 * expected < example.took_over < 1.5 * expected
    assert example.values[-1] == pytest.approx(1, abs=1e-9)


def test_power_iteration_against_orthogonal_iteration():
    example = run("power_iteration")
    exact = np.linalg.eigvalsh(example.A)[::-1]
    assert np.allclose(example.by_power.values, exact[:3], rtol=1e-9)
    assert np.allclose(example.by_block.values, exact[:3], rtol=1e-9)
    assert example.rate_of_block == pytest.approx(exact[3] / exact[2], rel=0.2)
    assert 3 * example.steps_by_block < example.steps_by_power / 5


def test_which_solver():
    example = run("which_solver")
    by_lapack = {name: np.linalg.svd(X, full_matrices=False) for name, X in example.tables.items()}
    for (name, solver), (model, _, said) in example.fits.items():
        s, truth = model.singular_values_, example.truth
        seen, power = s > 0, 1 if solver == "svd" else 2
        assert (np.abs(s - truth)[seen] < 100 * EPSILON / truth[seen] ** (power - 1)).all()
        assert example.resolved[name, solver] == seen.sum()
        assert seen.all() if solver == "svd" else not seen[truth < 1e-8].any()
        assert solver == "svd" or "rank" in said[0]
        _, exact, Vt = by_lapack[name]
        assert solver != "svd" or np.allclose(s, exact[:40], rtol=0, atol=50 * EPSILON)
        cosines = np.abs(np.einsum("ij,ij->i", Vt[:8], model.components_[:8]))
        assert np.allclose(cosines, 1, rtol=0, atol=1e-9)
    assert (example.chosen["tall"], example.chosen["wide"]) == ("covariance", "gram")
    assert not [key for key in example.fits if key == ("tall", "gram")]
    assert example.seconds["tall", "covariance"] < example.seconds["tall", "svd"]
    assert example.seconds["wide", "gram"] < example.seconds["wide", "covariance"] / 3
