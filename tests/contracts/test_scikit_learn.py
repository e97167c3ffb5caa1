"""scikit-learn's own checks of an estimator, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ritz import PCA, KernelPCA

ESTIMATORS = [
    PCA(),
    PCA(n_components=1, whiten=True),
    PCA(n_components=1, svd_solver="svd"),
    PCA(n_components=1, svd_solver="gram"),
    PCA(n_components=1, svd_solver="power"),
    PCA(n_components=1, svd_solver="orthogonal"),
    PCA(n_components=1, center=False, ddof=0),
    KernelPCA(),
    KernelPCA(n_components=1, kernel="rbf"),
    KernelPCA(n_components=1, kernel="rbf", gamma="median", eigen_solver="lowrank"),
    KernelPCA(n_components=1, kernel="poly", degree=2, eigen_solver="dense"),
    KernelPCA(n_components=2, kernel="laplacian", eigen_solver="krylov"),
    KernelPCA(n_components=1, kernel="cosine", eigen_solver="orthogonal"),
    KernelPCA(n_components=1, kernel="rbf", fit_inverse_transform=True),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_contract(estimator, check):
    check(estimator)
