"""Reports: the model's numbers, charts of the data, and nothing that runs, loads or trusts a name."""

import base64
import re
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine

import ritz
from helpers.pages import Page, boxes, faults, parsed, points
from ritz import PCA, DataError, KernelPCA, report, solvers
from ritz.fitting.rank import INDEPENDENT, Choice
from ritz.views.report import render
from ritz.views.scatter import First

RNG = np.random.default_rng(0)
WINE = load_wine()
X, KIND = WINE.data, WINE.target
TABLE = pd.DataFrame(X, columns=WINE.feature_names)
TIED = np.vstack([np.eye(6), -np.eye(6)]) * 3.0
SLOW = RNG.standard_normal((300, 40)) / np.sqrt(np.arange(1, 41))
SCALE = "scale them (scale=True, or --scale on the command line)"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\x1b[31mred", "a\u202eb\x00\ufffe\ud800"]

pytestmark = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")

VARIANTS = {
    "plain": lambda: (PCA(3).fit(X), X),
    "table": lambda: (PCA(3).fit(TABLE), TABLE),
    "all": lambda: (PCA().fit(X), X),
    "scaled": lambda: (PCA(4, scale=True).fit(X), X),
    "whitened": lambda: (PCA(2, whiten=True).fit(X), X),
    "not centred": lambda: (PCA(2, center=False).fit(X), X),
    "share": lambda: (PCA(0.95, scale=True).fit(X), X),
    "float32": lambda: (PCA(2).fit(X.astype(np.float32)), X.astype(np.float32)),
    "one component": lambda: (PCA(1).fit(X), X),
    "one column": lambda: (PCA().fit(X[:, :1]), X[:, :1]),
    "two rows": lambda: (PCA().fit(X[:2]), X[:2]),
    "wide": lambda: (PCA(3).fit(RNG.standard_normal((20, 500))), None),
    "tied": lambda: (PCA(3).fit(TIED), TIED),
    "rank deficient": lambda: (PCA(5).fit(X[:, [0, 1, 0, 1, 0]]), X[:, [0, 1, 0, 1, 0]]),
    "all alike": lambda: (PCA(2).fit(np.ones((5, 3))), np.ones((5, 3))),
    "infinite variances": lambda: (PCA(3).fit(X * 1e200), X * 1e200),
    "tiny": lambda: (PCA(3).fit(X * 1e-200), X * 1e-200),
    "not as accurate": lambda: (PCA(3, svd_solver=solvers.Power(max_iter=1)).fit(SLOW), SLOW),
    "covariance": lambda: (PCA.from_covariance(np.cov(X.T)), None),
    "covariance of some": lambda: (PCA.from_covariance(np.cov(X.T), n_rows=178, n_components=2), None),
    "batches": lambda: (PCA(2).partial_fit(X[:100]).partial_fit(X[100:]), X),
    "sketch": lambda: (PCA(3, memory_limit="1MB").partial_fit(RNG.standard_normal((300, 400))), None),
    "kernel": lambda: (KernelPCA(3, kernel="rbf", gamma="median").fit(X), X),
    "own kernel": lambda: (KernelPCA(1, kernel=lambda a, b: float(a @ b)).fit(X[:30]), X[:30]),
    "landmarks": lambda: (KernelPCA(2, kernel="rbf", gamma="median", n_landmarks=20).fit(X), X),
}


def page_of(model, **kwargs) -> Page:
    return Page(render(model, title=kwargs.pop("title", "Test"), **kwargs))


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_model_has_a_sound_page(variant, tmp_path):
    model, rows = VARIANTS[variant]()
    path = report(model, tmp_path / "page.html", rows)
    page = Page(path.read_text(encoding="utf-8"))
    assert faults(page) == []
    assert page.source.startswith("<!DOCTYPE html>")
    assert ("Every row at its place" in page.text) == (rows is not None)
    assert ("Not as accurate as asked" not in page.text) == model.certificate_.satisfied
    assert not {"nan", "inf", "None"} & set(page.text.split("The certificate, as the program prints it")[0].split())
    assert render(model, title="Test") == render(model, title="Test")


@pytest.mark.parametrize("variant", ["plain", "tied", "scaled", "infinite variances", "kernel", "not as accurate"])
def test_the_table_holds_the_numbers_of_the_model(variant):
    model, _ = VARIANTS[variant]()
    page, certificate = page_of(model), model.certificate_
    table, values = page.table(), certificate.values
    exact = [float(attributes["value"]) for attributes in page.attributes("data")]
    assert exact == values.tolist()
    shown = [parsed(text) for text in table[certificate.quantity.capitalize()]]
    assert np.allclose(shown, values, rtol=1e-5) or not certificate.satisfied or np.isinf(values).all()
    ratios = model.explained_variance_ratio_
    assert np.allclose([parsed(text) for text in table["Share"]], ratios, atol=6e-4)
    assert np.allclose([parsed(text) for text in table["Cumulative"]], np.cumsum(ratios), atol=6e-4)
    with np.errstate(invalid="ignore"):
        true = np.nan_to_num(np.abs(certificate.value_bounds - values[:, None]).max(axis=1), nan=np.inf)
    stated = np.array([parsed(text) for text in table["± numerical"]])
    assert (stated >= true).all()  # a bound that is rounded stays a bound
    assert (stated <= 1.12 * true)[np.isfinite(true)].all()
    angles = np.degrees(np.arcsin(certificate.angle_bounds))
    for text, degrees in zip(table["Axis off by (degrees)"], angles, strict=True):
        assert text == "undetermined" if degrees == 90 else degrees <= parsed(text) <= 1.12 * degrees
    if certificate.sampling_errors is None:
        assert "± sampling" not in table
    else:
        stated = [parsed(text) for text in table["± sampling"]]
        assert np.allclose(stated, certificate.sampling_errors, rtol=0.06)
    name = "Axis ± sampling (degrees)"
    if certificate.sampling_angles is None:
        assert name not in table
    else:
        turns = np.degrees(np.arcsin(certificate.sampling_angles))
        for text, degrees in zip(table[name], turns, strict=True):
            assert text == "not determined" if degrees == 90 else parsed(text) == pytest.approx(degrees, rel=0.06)


def test_digits_beyond_the_error_are_not_shown():
    model, _ = VARIANTS["not as accurate"]()
    table = page_of(model).table()
    for text, error in zip(table["Variance"], table["± numerical"], strict=True):
        last = 10.0 ** -len(text.partition(".")[2])  # the unit of the last digit
        single = len(text.replace(".", "").lstrip("0")) == 1
        assert error == "unknown" or single or last >= parsed(error) / 12


def test_words_say_what_the_model_knows():
    text = page_of(PCA(3).fit(TABLE)).text
    assert "178 rows of 13 columns were decomposed into 3 components" in text
    assert "is almost entirely the column proline" in text
    deviations = X.std(axis=0, ddof=1)
    ratio = deviations.max() / deviations.min()
    assert f"proline varies {float(f'{ratio:.1e}'):,.0f} times as much as nonflavanoid_phenols" in text
    assert SCALE in text
    assert SCALE not in page_of(PCA(3, scale=True).fit(TABLE)).text
    assert SCALE not in page_of(PCA(2).fit(X[:, [0, 2]] * [1, 4])).text
    assert SCALE not in page_of(PCA(2).fit(X), image=(13, 1)).text


def test_scales_are_compared_without_moments_too():
    """From axes and variances alone only bounds are known, which must not exceed the truth."""
    model = PCA.from_covariance(np.cov(X.T), n_components=3)
    assert "x12 varies at least" in page_of(model).text
    assert SCALE not in page_of(PCA.from_covariance(np.eye(5), n_components=2)).text


def test_components_are_described_by_their_largest_weights():
    rows = RNG.standard_normal((500, 1)) * [4.0, -3.0, 0, 0] + RNG.standard_normal((500, 4)) * 0.1
    text = page_of(PCA(1).fit(pd.DataFrame(rows, columns=["up", "down", "noise", "more"]))).text
    assert "rises with up (0.8) and falls with down (−0.6)" in text
    assert "noise (" not in text


def test_ties_rank_and_misses_are_told():
    tied = page_of(VARIANTS["tied"]()[0]).text
    assert "PC1–PC3 cannot be told apart: their variances" in tied
    assert "PC1–PC3 and the next one cannot be told apart at this accuracy" in tied
    deficient = page_of(VARIANTS["rank deficient"]()[0]).text
    assert "Only 2 of 5 components have a variance" in deficient
    assert "The axes of PC3–PC5 are arbitrary" in deficient
    short = page_of(VARIANTS["not as accurate"]()[0]).text
    assert "Not as accurate as asked, and a larger component may have been missed" in short
    assert "no direction lacks more than" in page_of(VARIANTS["sketch"]()[0]).text
    assert "all rows are alike" in page_of(VARIANTS["all alike"]()[0]).text
    assert "How many rows there were is not known" in page_of(VARIANTS["covariance"]()[0]).text


@pytest.mark.parametrize(("above", "said"), [(2, "2 components stand above"), (0, "No component stands above")])
def test_the_choice_of_components_is_drawn_and_told(above, said):
    model = PCA(max(above, 1), scale=True).fit(X)
    values = PCA(8, scale=True).fit(X).explained_variance_
    null = np.where(np.arange(8) < above, 0.9, 1.1) * values
    model.rank_choice_ = Choice("random <sign> flips", 7, 19, 0.95, values, null, max(above, 1))
    page = page_of(model)
    assert faults(page) == []
    assert said in page.text
    assert (f"it may mean nothing: {INDEPENDENT}." in page.text) == (above == 0)
    assert "seed 7" in page.text
    marks = {path.get("class"): path.get("d") for path in page.drawing("scree").iter("path")}
    assert len(boxes(marks["bar"])) == max(above, 1)
    assert len(boxes(marks["bar faint"])) == 8 - max(above, 1)
    assert marks["null"].count("L") == 7
    bars, line = boxes(marks["bar"]), [float(p.split(" ")[1]) for p in marks["null"][1:].split("L")]
    assert (bars[0][1] < line[0]) == (above > 0)  # upwards is to smaller numbers


def test_passes_of_the_plan_and_of_the_fit_are_told_apart():
    plain, auto = PCA(2).fit(X), PCA("auto").fit(X)
    assert (plain.plan_.passes, auto.plan_.passes) == (1, 3)
    assert plain.certificate_.passes == auto.certificate_.passes == 1
    assert "Passes over the data 1 Software" in page_of(plain).text
    text = page_of(auto).text
    assert "Plan svd: 3 passes" in text
    assert "Passes over the data 1 for the components; those of the plan include what the comparison with 19" in text


def test_bars_are_as_high_as_variances():
    model = PCA(6, scale=True).fit(X)
    (path,) = (p for p in page_of(model).drawing("scree").iter("path") if p.get("class") == "bar")
    heights = np.array([height for *_, height in boxes(path.get("d"))])
    assert np.allclose(heights / heights[0], model.explained_variance_ / model.explained_variance_[0], atol=1e-3)


def test_bars_of_weights_are_as_long_as_the_weights():
    model = PCA(2, scale=True).fit(TABLE)
    drawing = page_of(model).drawing("weights1")
    bars = [p for p in drawing.iter("path") if p.get("class", "").startswith("bar")]
    order = np.argsort(-np.abs(model.components_[1]))
    assert [bar[0].text.split(":")[0] for bar in bars] == [WINE.feature_names[j] for j in order]
    lengths = np.array([boxes(bar.get("d"))[0][2] for bar in bars])
    sign = np.array([-1 if "below" in bar.get("class") else 1 for bar in bars])
    assert np.allclose(
        sign * lengths / lengths[0], model.components_[1][order] / abs(model.components_[1][order[0]]), atol=2e-3
    )


def test_points_stand_where_their_scores_are():
    model = PCA(2, scale=True).fit(X)
    scores = model.transform(X)
    page = page_of(model, scores=scores, labels=KIND)
    for i in range(3):
        (path,) = (p for p in page.drawing("scores").iter("path") if f"c{i}" in p.get("class", "").split())
        at = np.array(points(path.get("d")))
        own = scores[i == KIND]
        assert len(at) == len(own)
        for axis, direction in ((0, 1), (1, -1)):
            slope, offset = np.polyfit(own[:, axis], at[:, axis], 1)
            assert direction * slope > 0
            assert np.abs(slope * own[:, axis] + offset - at[:, axis]).max() <= 0.06
    assert "Both axes have the same unit" in page.text
    slopes = [np.polyfit(scores[KIND == 0][:, j], [p[j] for p in points(_class(page, 0))], 1)[0] for j in range(2)]
    assert abs(slopes[0] + slopes[1]) < 0.01 * abs(slopes[0])


def _class(page, i):
    return next(p.get("d") for p in page.drawing("scores").iter("path") if f"c{i}" in p.get("class", "").split())


def legend(page) -> list[str]:
    start = page.source.index('<ul class="legend')
    return Page(page.source[start : page.source.index("</ul>", start)]).text.split(")")[:-1]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.repeat([3, 20, 100], 20), ["3 (20", "20 (20", "100 (20"]),
        (np.array(["b", "a", ""] * 20), ["a (20", "b (20", "missing (20"]),
        (np.array([1.0, 2.0, np.nan] * 20), ["1 (20", "2 (20", "missing (20"]),
        (np.array([None, True, pd.NA] * 20, dtype=object), ["True (20", "missing (40"]),
        (pd.Categorical(["x", None, "y"] * 20), ["x (20", "y (20", "missing (20"]),
    ],
    ids=["numbers", "words", "floats", "objects", "categories"],
)
def test_labels_of_any_kind_become_classes(labels, expected):
    page = page_of(PCA(2).fit(X[:60]), scores=RNG.standard_normal((60, 2)), labels=labels)
    assert [entry.strip() for entry in legend(page)] == expected
    assert faults(page) == []


def test_many_labels_become_a_few_and_others():
    labels = [f"label {i}" for i in range(30) for _ in range(30 - i)]
    page = page_of(PCA(2).fit(X), scores=RNG.standard_normal((len(labels), 2)), labels=labels)
    entries = [entry.strip() for entry in legend(page)]
    assert entries[:2] == ["label 0 (30", "label 1 (29"]
    assert len(entries) == 10
    assert entries[-1] == "other, 21 labels (231"


def test_many_numbers_become_a_scale():
    numbers = np.linspace(0, 100, 500)
    scores = np.column_stack([numbers, RNG.standard_normal(500)])
    page = page_of(PCA(2).fit(X), scores=scores, labels=numbers)
    middles = [np.mean([x for x, _ in points(p.get("d"))]) for p in page.drawing("scores").iter("path")
               if p.get("class", "").split()[-1].startswith("q")]  # fmt: skip
    assert len(middles) == 9
    assert (np.diff(middles) > 0).all()
    counts = [int(entry.split("(")[1]) for entry in legend(page)]
    assert sum(counts) == 500


@pytest.mark.parametrize("labelled", [False, True])
def test_very_many_points_become_a_density(labelled):
    n = 100_000
    side = np.arange(n) % 2
    scores = RNG.standard_normal((n, 2)) + np.column_stack([12.0 * side, np.zeros(n)])
    source = render(PCA(2).fit(X), title="many", scores=scores, labels=np.array(["l", "r"])[side] if labelled else None)
    assert len(source) < 200_000
    page = Page(source)
    assert faults(page) == []
    cells = [p for p in page.drawing("scores").iter("path") if "cell" in p.get("class", "").split()]
    places = {
        kind: [x for p in cells if kind in p.get("class").split() for x, *_ in boxes(p.get("d"))]
        for kind in ("c0", "c1")
    }
    if labelled:
        assert max(places["c0"]) < min(places["c1"])
    else:
        assert places["c0"]
        assert not places["c1"]
    strong = {x for p in cells if "level3" in p.get("class") for x, *_ in boxes(p.get("d"))}
    assert min(strong) > min(map(min, filter(None, places.values())))  # the middle is denser than the edge


def test_20_000_points_stay_small():
    source = render(
        PCA(2).fit(X), title="many", scores=RNG.standard_normal((20_000, 2)), labels=RNG.integers(0, 9, 20_000)
    )
    assert len(source) < 600_000


def test_one_component_is_a_histogram():
    model = PCA(1).fit(X)
    scores = model.transform(X)
    page = page_of(model, scores=scores, labels=KIND)
    cells = {p.get("class"): boxes(p.get("d")) for p in page.drawing("scores").iter("path") if "cell" in p.get("class")}
    area = [sum(height for *_, height in cells[f"cell c{i}"]) for i in range(3)]
    assert np.allclose(np.array(area) / area[0], np.bincount(KIND) / np.bincount(KIND)[0], rtol=0.01)


def test_scores_beyond_floats_are_counted_and_not_drawn():
    scores = RNG.standard_normal((50, 2))
    scores[7] = np.inf
    page = page_of(PCA(2).fit(X), scores=scores)
    assert "1 row beyond float64" in page.text
    assert faults(page) == []
    nothing = page_of(PCA(2).fit(X), scores=np.full((3, 2), np.nan))
    assert "3 rows beyond float64" in nothing.text
    assert faults(nothing) == []


def test_names_from_the_data_are_only_text():
    rows = pd.DataFrame(RNG.standard_normal((60, 4)) * [4, 3, 2, 1], columns=HOSTILE)
    facts = [(name, name) for name in HOSTILE]
    model = PCA(3).fit(rows)
    page = page_of(model, title=HOSTILE[0], scores=model.transform(rows), labels=HOSTILE * 15, facts=facts)
    assert faults(page) == []
    assert "<script>alert(1)</script>" in page.text  # as text
    assert "<script" not in page.source.lower()
    assert "<img" not in page.source
    for character in "\x1b\u202e\x00\ufffe\ud800":
        assert character not in page.source
    assert "a⟨U+202E⟩b⟨U+0000⟩⟨U+FFFE⟩⟨U+D800⟩" in page.text
    page.source.encode("utf-8")


def test_long_names_are_cut():
    name = "n" * 100_000
    rows = pd.DataFrame(RNG.standard_normal((60, 2)) * [2, 1], columns=[name, "界" * 500])
    model = PCA(2).fit(rows)
    source = render(model, title=name, scores=model.transform(rows), labels=[name] * 60, facts=[(name, name)])
    assert len(source) < 60_000
    assert "n" * 500 not in source
    assert "界" * 31 not in source


def pixels(source: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices and palette of a PNG, read by its specification."""
    data = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        parts[kind] = body
        at += 12 + size
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert (depth, colour, rest) == (8, 3, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:], np.frombuffer(parts[b"PLTE"], np.uint8).reshape(256, 3)


def test_pictures_show_the_mean_and_the_axes():
    digits = load_digits().data
    model = PCA(3).fit(digits)
    page = page_of(model, image=(8, 8), scores=model.transform(digits))
    assert faults(page) == []
    images = page.attributes("img")
    assert [image["alt"].split(",")[0] for image in images] == ["mean", "PC1", "PC2", "PC3"]
    grey, palette = pixels(images[0]["src"])
    assert (palette[:, 0] == np.arange(256)).all()
    assert np.allclose(grey / 255 * model.mean_.max(), model.mean_.reshape(8, 8), atol=model.mean_.max() / 500)
    for image, axis in zip(images[1:], model.components_, strict=True):
        indices, palette = pixels(image["src"])
        level = (indices - 127.5) / 127.5 * np.abs(axis).max()
        assert np.allclose(level, axis.reshape(8, 8), atol=np.abs(axis).max() / 200)
        red, _, blue = palette.T.astype(int)
        assert (red[:100] < blue[:100]).all()
        assert (red[156:] > blue[156:]).all()
    assert "weights" not in {attributes.get("id") for _, attributes in page.elements}


def test_large_pictures_are_averaged():
    field = np.add.outer(np.arange(600.0), np.arange(700.0))
    mean = field.ravel()
    rows = mean + RNG.standard_normal((3, 1)) * np.sin(mean)
    image = page_of(PCA(1).fit(rows), image=(600, 700)).attributes("img")[0]
    indices, _ = pixels(image["src"])
    assert indices.shape == (200, 234)
    level = (indices - indices.min()) / 255.0
    expected = np.add.outer(np.arange(1, 600, 3.0), np.append(np.arange(1, 699, 3.0), 699.0))
    assert np.allclose(level, (expected - expected.min()) / np.ptp(expected), atol=0.01)


def test_kernel_reports_bound_the_shares():
    model, rows = VARIANTS["landmarks"]()
    page = page_of(model, scores=model.transform(rows))
    low, high = zip(*(text.split(" to ") for text in page.table()["Share between"]), strict=True)
    bounds = model.explained_variance_ratio_bounds_
    low, high = (np.array([parsed(text) for text in texts]) for texts in (low, high))
    assert (low <= bounds[:, 0]).all()
    assert (high >= bounds[:, 1]).all()
    assert np.allclose(np.column_stack([low, high]), bounds, atol=1.1e-3)
    gamma = re.search(r"feature space of the kernel rbf with gamma (\S+)\.", page.text)
    assert parsed(gamma[1]) == pytest.approx(model.gamma_, rel=1e-3)
    assert "columns of the kernel matrix stand for all of it" in page.text


def test_facts_and_parameters_are_listed():
    page = page_of(
        PCA(2, svd_solver=solvers.Krylov(max_iter=50)).fit(X), facts=[("File", "wine.csv"), ("Separator", ";")]
    )
    for text in ("File wine.csv", "Separator ;", f"Ritz {ritz.__version__}", "svd_solver Krylov(", "ddof 1"):
        assert text in page.text
    seeded = [page_of(PCA(2, random_state=np.random.RandomState(0)).fit(X)).source for _ in range(2)]
    assert seeded[0] == seeded[1]


def test_rows_from_files_bring_their_labels(tmp_path):
    path = tmp_path / "wine <b>.csv"
    TABLE.assign(kind=np.array(["red", "white", "rosé"])[KIND]).to_csv(path, index=False)
    rows = ritz.read(path, label="kind")
    model = PCA(2).fit(rows)
    page = Page(report(model, tmp_path / "a.html", rows).read_text(encoding="utf-8"))
    assert [entry.strip() for entry in legend(page)] == ["red (59", "rosé (48", "white (71"]
    numbers = tmp_path / "wine.npy"
    np.save(numbers, X)
    page = Page(report(PCA(2).fit(numbers), tmp_path / "b.html", numbers).read_text(encoding="utf-8"))
    assert "Principal components of wine.npy" in page.text
    with pytest.raises(DataError, match="is the file that is read"):
        report(PCA(2).fit(numbers), numbers, numbers)
    assert np.array_equal(np.load(numbers), X)


def test_what_cannot_be_shown_is_refused(tmp_path):
    model = PCA(2).fit(X)
    path = tmp_path / "page.html"
    refused = [
        (DataError, "labels have the shape", {"X": X, "labels": KIND[:-1]}),
        (DataError, "pass the rows too", {"labels": KIND}),
        (DataError, "64 pixels, but there are 13 columns", {"image": (8, 8)}),
        (ValueError, "must be", {"image": 13}),
        (ValueError, "must be", {"image": (13, 0)}),
    ]
    for kind, message, arguments in refused:
        with pytest.raises(kind, match=message):
            report(model, path, **arguments)
    with pytest.raises(DataError, match="feature space"):
        report(KernelPCA(1).fit(X), path, image=(13, 1))
    with pytest.raises(TypeError, match=r"a ritz\.PCA or a ritz\.KernelPCA, not a 'dict'"):
        report({}, path)
    with pytest.raises(ValueError, match="not fitted"):
        report(PCA(2), path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        report(model, tmp_path / "nowhere" / "page.html")
    with pytest.raises(DataError, match="is a folder"):
        report(model, tmp_path)
    with pytest.raises(DataError, match="scores have the shape"):
        render(model, title="", scores=np.zeros(5))
    assert list(tmp_path.iterdir()) == []


def test_the_templates_are_only_loaded_for_reports():
    code = "import ritz, sys; ritz.PCA(1).fit([[1.0, 2], [3, 5], [5, 6]]); print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def console(path) -> tuple[str, list[str]]:
    """A page as a browser holds it, and what the browser complains about."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += [f"--user-data-dir={path.parent / 'profile'}", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_takes_the_page_without_complaint(tmp_path):
    digits = load_digits()
    path = report(PCA(4).fit(digits.data), tmp_path / "page.html", digits.data, labels=digits.target, image=(8, 8))
    page, complaints = console(path)
    assert complaints == []
    assert page.count("<svg") >= 3
    assert Page(page).attributes("img")
    # A style that is not the one of the policy is what a browser does complain about.
    altered = tmp_path / "altered.html"
    altered.write_text(path.read_text(encoding="utf-8").replace("margin: 0 auto", "margin: 1px auto"), encoding="utf-8")
    _, complaints = console(altered)
    assert any("Content Security Policy" in line for line in complaints)


def few(most):
    """What remembers so few scores that a test can have more."""

    class Few(First):
        def __init__(self):
            super().__init__(most)

    return Few


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("labelled", [False, True])
def test_of_very_many_rows_it_is_told_which_are_counted(monkeypatch, tmp_path, k, labelled):
    monkeypatch.setattr("ritz.views.report.First", few(25_000))
    rows = RNG.standard_normal((90_001, 2)) * [2.0, 1.0]
    kind = np.array(["l", "r"])[(np.arange(90_001) % 8 == 4).astype(int)] if labelled else None
    page = Page(report(PCA(k).fit(rows), tmp_path / "page.html", rows, labels=kind).read_text(encoding="utf-8"))
    assert faults(page) == []
    assert "Every 4th row at its place" in page.text
    where = ", here and in the legend" if labelled else ""
    assert f"There are 90,001 rows, of which every 4th is counted{where}." in page.text
    assert "scores shown every 4th row of 90,001" in page.text
    assert page.drawing("scores")[1].text.startswith("90,001 rows, of which every 4th is counted: ")
    assert ("90,001 rows are too many to be drawn one by one" in page.text) == (k == 2)
    assert not {"22,501", "22501"} & set(page.text.split())
    if labelled:  # rows 0, 4, 8, … of which every second is of the other kind
        assert [entry.strip() for entry in legend(page)] == ["l (11,251", "r (11,250"]


def test_lost_scores_of_very_many_rows_are_those_counted():
    scores = RNG.standard_normal((1000, 2))
    scores[[0, 4, 5]] = np.inf
    first = few(300)()
    first.add(scores[:30])
    first.add(scores[30:])
    text = page_of(PCA(2).fit(X), scores=first).text
    assert "There are 1,000 rows, of which every 4th is counted." in text
    assert "2 rows of those counted beyond float64 are not drawn." in text


def test_rows_that_are_all_remembered_are_all_counted():
    first = First()
    first.add(PCA(2).fit_transform(X))
    assert page_of(PCA(2).fit(X), scores=first).source == page_of(PCA(2).fit(X), scores=first.scores).source
    assert "is counted" not in page_of(PCA(2).fit(X), scores=first).text


def along(path: str) -> np.ndarray:
    """The corners of a line."""
    return np.array([corner.split() for corner in path[1:].split("L")], float)


FLAT = np.vstack([np.eye(150), -np.eye(150)]) * np.linspace(1.2, 1.0, 150)  # so flat that shares take many components


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9, 0.95, 0.99, 0.9999])
@pytest.mark.parametrize("data", ["wine", "flat"])
@pytest.mark.parametrize("kernel", [False, True])
def test_the_curve_reaches_the_share_that_was_asked_for(share, data, kernel):
    rows = X / X.std(axis=0) if data == "wine" else FLAT
    model = (KernelPCA(share) if kernel else PCA(share)).fit(rows)
    page = page_of(model)
    assert faults(page) == []
    marks = {path.get("class"): path for path in page.drawing("together").iter("path") if path.get("class")}
    bottom, top = 256, 30  # of the chart: 0 and 1
    (start, asked), (end, same) = along(marks["asked"].get("d"))
    assert asked == same == pytest.approx(bottom + share * (top - bottom), abs=0.06)
    assert start < end
    last = points(marks["dots"].get("d"))[-1]
    assert last[1] <= asked + 0.1
    assert along(marks["line"].get("d"))[-1] == pytest.approx(last)
    assert last[1] == pytest.approx(
        bottom + min(1.0, float(model.explained_variance_ratio_.sum())) * (top - bottom), abs=0.1
    )
    assert f"where {100 * share:g}% was asked for" in page.text
    assert f"the line: {100 * share:g}% was asked for" in page.text
    assert page.table()["Component"][-1] == f"PC{len(model.explained_variance_ratio_)}"
    assert parsed(page.table()["Cumulative"][-1]) >= share - 5e-4


def test_charts_and_tables_go_on_to_the_last_component():
    page = page_of(PCA(120).fit(FLAT))
    names = page.table()["Component"]
    assert names == [*(f"PC{i + 1}" for i in range(50)), "…", "PC120"]
    marks = {path.get("class"): path.get("d") for path in page.drawing("scree").iter("path")}
    assert len(boxes(marks["bar"])) == 120
    assert "asked" not in {path.get("class") for path in page.drawing("together").iter("path")}
    beyond = page_of(PCA().fit(np.vstack([np.eye(500), -np.eye(500)])))
    assert "the first 400 of 500" in beyond.text
    assert page_of(PCA(60).fit(FLAT)).table()["Component"][-2:] == ["…", "PC60"]
    assert page_of(PCA(51).fit(FLAT)).table()["Component"][-2:] == ["PC50", "PC51"]


def test_the_curve_of_an_automatic_number_of_components_is_whole():
    rows = RNG.standard_normal((400, 70)) @ RNG.standard_normal((70, 100)) * 30 + RNG.standard_normal((400, 100))
    model = PCA("auto").fit(rows)
    page = page_of(model)
    marks = {path.get("class"): path.get("d") for path in page.drawing("together").iter("path")}
    assert len(along(marks["line"])) == model.n_components_
    assert "asked" not in marks


def test_deviations_of_columns_are_those_of_the_fit():
    """Whatever parameters are set afterwards, for a fit to come."""
    X = np.random.default_rng(0).standard_normal((4, 3))
    model = PCA(2).fit(X)
    before = page_of(model).text
    for ddof in (0, 4, 10**6):
        assert page_of(model.set_params(ddof=ddof)).text.replace(f" ddof {ddof} ", " ddof 1 ") == before
