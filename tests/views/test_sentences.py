"""What is said of a fit, for the cases that differ in words."""

import pytest

from ritz.pca.recognition import Recognition
from ritz.views.sentences import recognised


@pytest.mark.parametrize(
    ("right", "compared", "pictures", "words"),
    [
        (
            (5, 8, 9),
            10,
            True,
            "80.0% in 2 components, 90.0% in all pixels; 3 components (-k 3) reach that (leave-one-out",
        ),
        ((9, 9, 9), 10, False, "90.0% in 2 components, 90.0% in all columns; 1 component (-k 1) reaches that (leave"),
        (
            (5, 9, 9),
            10,
            False,
            "90.0% in 2 components, 90.0% in all columns (leave-one-out, axes learned from all rows",
        ),
        (
            (5, 8, 9),
            7,
            True,
            "about 3 components (-k 3) reach that (leave-one-out among 7 pictures, axes learned from all ",
        ),
    ],
)
def test_recognition_names_the_number_that_reaches_all_columns(right, compared, pictures, words):
    assert words in recognised(Recognition((1, 2, 3), right, 9, 2, 10, compared, 10), pictures)
