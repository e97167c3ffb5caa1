"""Answers in every form that libraries and people hand in, and with the digits that they have."""

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.preprocessing import StandardScaler

import ritz
from helpers.students import Student, covariance, data, kernel_pairs, rbf
from ritz import check

pytestmark = pytest.mark.usefixtures("one_thread")
S, RAW = Student("iris"), Student("iris", center=False)
FORMS = {
    "spectrum": ritz.eigen(S.C, 2),
    "eigh, descending": tuple(part[..., ::-1] for part in np.linalg.eigh(S.C)),
    "svd of the rows": np.linalg.svd(S.Z, full_matrices=False),
    "full svd of the rows": np.linalg.svd(S.Z),
    "svd of the covariance": np.linalg.svd(S.C),
    "V in columns": (S.P, S.s, S.V),
    "singular values on a diagonal": [S.P, np.diag(S.s), S.V.T],
    "eigenvalues on a diagonal": (S.V, np.diag(S.values)),
    "one pair after the other": list(zip(S.values, S.V.T, strict=True)),
    "axes of a model without variances": type("Model", (), {"components_": S.V[:, :2].T})(),
}
WRONG = {
    "ascending_order": np.linalg.eigh(S.C),
    "not_centred": np.linalg.svd(S.X),
    "scaled": np.linalg.svd(np.corrcoef(S.X.T)),
    "not_divided": np.linalg.svd(S.Z.T @ S.Z),
    "left_singular_vectors": np.linalg.svd(S.Z.T, full_matrices=False),
    "singular_values": (S.s, S.V),
    "transposed": list(zip(S.values, S.V, strict=True)),
}
REFUSED = {
    "not_numbers": (np.eye(4, dtype=bool)[:, :2], "True and False"),
    "not_fitted": (ritz.PCA(2), "a PCA that has no components"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_right_answer_is_right_in_any_form(form):
    verdict = check(S.X, FORMS[form])
    assert verdict.right, str(verdict)


@pytest.mark.parametrize("code", WRONG)
def test_a_mistake_is_told_in_the_form_it_comes_in(code):
    assert check(S.X, WRONG[code]).codes == (code,)


def test_a_singular_value_decomposition_is_read_in_words():
    assert "V and S²/149 are read as axes" in check(S.X, np.linalg.svd(S.Z))["given"].text
    Kc = kernel_pairs(rbf(data("gapped"), 0.02), 20)
    K = (Kc[1] * Kc[0]) @ Kc[1].T
    assert check(data("gapped"), np.linalg.svd(K), kernel="rbf", gamma=0.02).right
    assert check(A=S.C, U=np.linalg.svd(S.C)).right


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_no_array_of_numbers_is_refused_in_words(code):
    answer, said = REFUSED[code]
    verdict = check(S.X, answer)
    assert verdict.codes == (code,)
    assert said in str(verdict)


@pytest.mark.parametrize("model", [sklearn.decomposition.PCA(2), StandardScaler()], ids=lambda m: type(m).__name__)
def test_models_are_fitted_first(model):
    assert check(S.X, model).code == "not_fitted"


def test_truncated_svd_did_not_centre():
    model = sklearn.decomposition.TruncatedSVD(2, algorithm="arpack").fit(S.X)
    assert set(check(S.X, model).codes) == {"divided_by_n", "not_centred"}  # scikit-learn divides by n there


ROUNDED = {
    "axes": (S.V[:, :2], ()),
    "scores": (S.Z @ S.V[:, :2], ()),
    "pairs": ((S.values[:2], S.V[:, :2]), ()),
    "values": (S.values, ()),
    "divided by n": (S.values * 149 / 150, ("divided_by_n",)),
    "singular values": ((S.s[:2], S.V[:, :2]), ("singular_values",)),
    "shares": (S.values / S.values.sum(), ("variance_ratios",)),
    "not centred": (RAW.V[:, :2], ("not_centred",)),
    "in rows": (S.V[:, :2].T, ("transposed",)),
    "upwards": (np.linalg.eigh(S.C), ("ascending_order",)),
    "scores of X": (S.X @ S.V[:, :2], ("scores_not_centred",)),
}


@pytest.mark.parametrize("decimals", [2, 3, 5])
@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_numbers_are_judged_by_the_digits_they_have(name, decimals):
    answer, codes = ROUNDED[name]
    parts = tuple(np.round(part, decimals) for part in answer) if isinstance(answer, tuple) else answer.round(decimals)
    verdict = check(S.X, parts)
    assert verdict.codes == codes, str(verdict)
    assert verdict.right == (not codes)
    assert "judged as rounded" in verdict["rounded"].text


def test_significant_digits_are_digits_too():
    s = Student("wine")
    few = np.vectorize(lambda v: float(f"{v:.3g}"))
    assert check(s.X, (few(s.values[:3]), few(s.V[:, :3]))).right
    assert check(s.X, few(s.values[:3] * (s.n - 1) / s.n), what="values").code == "divided_by_n"
    assert check(S.X, few(S.values).astype(np.float32), what="values").right


def test_rounding_excuses_no_more_than_it_explains():
    off = np.linalg.qr(S.V[:, :2] + [[0.0, 0.03], [0.03, 0.0], [0.0, 0.0], [0.0, 0.03]])[0]
    assert not check(S.X, off.round(2)).right
    assert not check(S.X, S.V[:, :2].round(1)).right
    assert not check(S.X, (S.values[:2] + 0.02).round(2), what="values").right
    few = check(S.X, S.alpha(2).round(3), what="alpha")  # of numbers near 0.003
    assert not few.right
    assert "too few digits" in few["rounded"].text


def test_eigenvalues_alone_are_known_by_being_sorted():
    for values in (S.values, S.values[::-1]):
        verdict = check(S.X, values)
        assert "4 eigenvalues" in verdict["given"].text
        assert verdict.codes == (() if values is S.values else ("ascending_order",))
    assert check(S.X, S.values * 1.5).headline == "these are not the leading eigenvalues."
    assert check(S.X, (S.values, S.V), what="values").right
    assert check(A=np.diag([3.0, 1.0]), U=covariance(np.diag([3.0, 1.0]))[0]).right
