"""What a fitted PCA says about its components: `summary`, `rotate`, `align_to`.

What answers is imported when it is asked: most fits are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ritz.estimators.base import seed

if TYPE_CHECKING:
    from ritz.interpretation.alignment import Aligned
    from ritz.interpretation.rotated import Rotation
    from ritz.interpretation.summary import Summary


class Meaning:
    """Questions to a fitted PCA that it can answer without its rows."""

    def summary(self, n: int = 3) -> Summary:
        """The model in tables: variances with their shares, loadings with the names of columns, and for each of the
        first n components the columns that make it, with correlations, contributions and cos².

        Only what the model knows is shown; `ritz.interpret(model, X)` says more. The frame of the loadings is
        ``summary().loadings.to_frame()``.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> found = ritz.PCA(2, scale=True).fit(load_iris(as_frame=True).data).summary(1)
        >>> print(found.components["PC1"])
        columns of PC1, largest contributions first
        column             loading  correlation  contribution %    cos²
        petal length (cm)   0.9916       0.9916           33.69  0.9832
        petal width (cm)     0.965       0.9650           31.91  0.9312
        sepal length (cm)   0.8902       0.8902           27.15  0.7924
        sepal width (cm)   -0.4601      -0.4601            7.25  0.2117
        >>> found.loadings.to_frame().shape
        (4, 2)
        """
        from ritz.interpretation.summary import summary_of

        return summary_of(self, n)

    def rotate(
        self,
        method: str = "varimax",
        *,
        kaiser: bool | None = None,
        k: int | None = None,
        n_starts: int = 10,
        random_state: Any = None,
        gamma: float = 0.0,
        power: float = 4.0,
    ) -> Rotation:
        """Rotate the loadings of the first k components towards simple structure; the model stays as it is.

        Loadings are axes times standard deviations, which rotate into loadings of components of variance 1: what they
        explain together stays the same, how it is shared out changes. Variances are computed anew, and components
        brought into their order.

        Parameters
        ----------
        method : "varimax" and "quartimax" keep components uncorrelated; "oblimin" (quartimin where gamma is 0) and
            "promax" do not, and tell their correlations `phi`
        kaiser : normalise the rows of the loadings to length 1 while they are rotated, as SPSS and R's varimax do. None
            is usual: True for promax, as in R, and False for the others
        k : how many components, the first ones; None for all that have variance. The answer depends on it
        n_starts : the first start is no rotation, others are random; the best answer is kept
        random_state : seed of the random starts
        gamma : of oblimin, at most 1
        power : of promax: varimax loadings to this power are its target, 4 as in R

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> pca = ritz.PCA(2, scale=True).fit(load_iris(as_frame=True).data)
        >>> print(pca.rotate("varimax"))
        varimax rotation of 2 components: loadings
        column                 RC1      RC2
        sepal length (cm)   0.9593  0.04803
        sepal width (cm)   -0.1443   0.9849
        petal length (cm)   0.9441   -0.304
        petal width (cm)    0.9324  -0.2569
        variances: RC1 2.702 (67.54 %), RC2 1.131 (28.27 %)
        """
        from ritz.interpretation.rotation import rotate_model

        options = {"kaiser": kaiser, "n_starts": n_starts, "gamma": gamma, "power": power}
        return rotate_model(self, method, k, seed=seed(random_state), **options)

    def align_to(self, reference: Any, mode: str = "signs", groups: Any = None) -> Aligned:
        """The axes of this model as they look most like those of a reference, as far as PCA leaves them free.

        PCA decides an axis up to its sign, and axes of equal variance up to a rotation. With mode="signs" every axis
        gets the sign of the axis of the reference that it is most like, and axes of a group its order. With
        mode="procrustes" the axes of a group are rotated onto those of the reference. Groups are the certificate's:
        what rounding cannot separate.

        The result is not a model: rotated axes are no eigenvectors, and their variances in no order. It has the axes,
        their variances, and `scores` of rows.

        Parameters
        ----------
        reference : a fitted PCA, a Subspace, or a (d, m) array of orthonormal columns
        mode : "signs" or "procrustes"
        groups : half-open 0-based ranges of components in place of the certificate's, such as [(1, 3)] for PC2 and PC3,
            that the sample does not separate; [(0, k)] for all

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((300, 4)) * [4, 3, 2, 1]
        >>> old, new = ritz.PCA(2).fit(X[:150]), ritz.PCA(2).fit(X[150:])
        >>> aligned = new.align_to(-old.subspace_.axes)
        >>> aligned.signs
        array([-1., -1.])
        >>> bool((aligned.scores(X) == -new.transform(X)).all())
        True
        """
        from ritz.interpretation.alignment import align

        return align(self, reference, mode, groups)
