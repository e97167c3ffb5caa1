"""scikit-learn's own checks of an estimator, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import PCA

ESTIMATORS = [
    PCA(),
    PCA(n_components=1, whiten=True),
    PCA(n_components=1, svd_solver="svd"),
    PCA(n_components=1, svd_solver="gram"),
    PCA(n_components=1, svd_solver="power"),
    PCA(n_components=1, svd_solver="orthogonal"),
    PCA(n_components=1, center=False, ddof=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_contract(estimator, check):
    check(estimator)
