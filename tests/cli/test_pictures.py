"""Pictures through the command line: fitted, shown, transformed, and written back."""

import json

import numpy as np
import pytest

from helpers.commands import all_said, answer, run
from helpers.files import write_idx
from ritz import KernelPCA, load, read
from ritz.cli.pictures import Scale
from ritz.rows.write.png import png

RNG = np.random.default_rng(0)
BASE = RNG.uniform(40, 200, (3, 8, 6))
MIX = RNG.dirichlet(np.ones(3), 20)
FACES = np.rint(np.einsum("ni,ihw->nhw", MIX, BASE)).astype(np.uint8)  # of rank 2 but for rounding


def put(folder, pictures):
    for i, picture in enumerate(pictures):
        path = folder / f"person {i % 2}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(picture))
    return folder


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder of pictures, and what is said of its fit."""
    folder = put(tmp_path_factory.mktemp("cli") / "faces", FACES)
    return folder, run("fit", folder, "-k", 2), folder.parent / "faces-ritz"


def test_a_folder_in_one_command(fitted):
    folder, result, out = fitted
    assert "20 pictures of 8×6 pixels (height×width), each flattened into a row of 48 numbers" in result.stdout
    assert "not decomposed: folder (label)" in result.stdout
    assert f"ritz inverse {out}/model.safetensors {out}/scores.parquet -o PICTURES/" in result.stdout
    page = (out / "report.html").read_text("utf-8")
    assert page.count("<img") == 3  # the mean and two axes
    assert "person 1" in page
    model = load(out / "model.safetensors")
    assert (model.image_shape_, model.white_) == ((8, 6), 255.0)
    scores = read(out / "scores.parquet", columns=["PC1", "PC2"], label="folder")
    np.testing.assert_allclose(scores.block(0, 20), model.transform(folder))
    assert list(scores.labels) == list(read(folder).labels)
    told = all_said("report", out / "model.safetensors", folder, "-o", out / "again.html")
    assert "report written" in told
    assert (out / "again.html").read_text("utf-8").count("<img") == 3


def test_pictures_with_labels_are_recognised(tmp_path):
    """By default as many components are kept as hold 95 % of the variance, and both are said."""
    put(tmp_path / "two", [face // 2 + 120 * (i % 2) for i, face in enumerate(FACES)])
    result = run("fit", tmp_path / "two")
    assert "of 19 components explain" in result.stdout  # centred rows span one dimension less
    assert "(default: 95%; -k changes that)" in result.stdout
    assert "recognition by nearest neighbour: 100% in" in result.stdout
    assert ", 100% in all pixels" in result.stdout
    assert "Recognition by nearest neighbour" in (tmp_path / "two-ritz" / "report.html").read_text("utf-8")
    facts = answer("fit", tmp_path / "two", "-k", 2, "-o", tmp_path / "out")
    seen = facts["recognition"]
    assert (seen["kept"], seen["in_kept"], seen["in_columns"], seen["asked"]) == (2, 20, 20, 20)
    np.save(tmp_path / "x.npy", FACES)
    assert answer("fit", tmp_path / "x.npy")["recognition"] is None  # no labels


def test_info_of_a_folder(fitted):
    told = all_said("info", fitted[0])
    assert "20 pictures of 8×6 pixels" in told
    assert "--scale" not in told  # pixels have one unit


def test_inverse_writes_pictures(fitted, tmp_path):
    from PIL import Image

    _, _, out = fitted
    command = ("inverse", out / "model.safetensors", out / "scores.parquet", "-o", f"{tmp_path / 'back'}/")
    assert "20 pictures of 8×6 pixels; written to" in all_said(*command)
    for i, face in enumerate(FACES):
        found = np.asarray(Image.open(tmp_path / "back" / f"person {i % 2}" / f"{i}.png"))
        np.testing.assert_allclose(found, face, atol=2)  # rank 2 but for rounding
    again = all_said(*command, code=1)
    assert "exists and is not empty; --force writes into it and replaces files of the same name" in again
    (tmp_path / "back" / "mine.txt").write_text("kept")
    facts = answer(*command, "--force")
    assert (facts["pictures"], facts["clipped"], facts["numbers"]) == (20, 0, 960)
    assert (tmp_path / "back" / "mine.txt").read_text() == "kept"


def test_values_beyond_black_and_white_are_counted(fitted, tmp_path):
    _, _, out = fitted
    (tmp_path / "far.csv").write_text("name,PC1,PC2\na,100000,0\nb,,\n")
    command = ("inverse", out / "model.safetensors", tmp_path / "far.csv", "-o")
    told = all_said(*command, f"{tmp_path}/far/")
    rows = load(out / "model.safetensors").inverse_transform(np.array([[100000.0, 0.0]]))
    beyond = int(((np.rint(rows) < 0) | (np.rint(rows) > 255)).sum())
    assert f"1 picture of 8×6 pixels; {beyond} of 48 values" in told
    assert "outside of 0 to 255 were clipped" in told
    assert "1 of 2 rows have no scores, and there is no picture of them" in told
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["a.png"]
    told = all_said(*command, tmp_path / "far.png", code=2)
    assert "far.png' is one picture, but there are 2 rows; give a folder for them: -o FOLDER/" in told
    (tmp_path / "one.csv").write_text("PC1,PC2\n1,2\n")
    command = ("inverse", out / "model.safetensors", tmp_path / "one.csv", "-o")
    assert "1 picture of 8×6 pixels; written to" in all_said(*command, tmp_path / "one.png")


def test_a_model_without_pictures_says_so(tmp_path):
    np.save(tmp_path / "x.npy", FACES.reshape(20, 48))
    run("fit", tmp_path / "x.npy", "-k", 2)
    model, scores = tmp_path / "x-ritz" / "model.safetensors", tmp_path / "x-ritz" / "scores.parquet"
    told = all_said("inverse", model, scores, "-o", f"{tmp_path}/back/", code=3)
    assert "does not know that its rows are pictures" in told
    assert not (tmp_path / "back").exists()
    run("fit", tmp_path / "x.npy", "-k", 2, "--image", "8x6", "--force")
    assert load(model).image_shape_ == (8, 6)
    assert "20 pictures" in all_said("inverse", model, scores, "-o", f"{tmp_path}/back/")
    assert "20 pictures" in all_said("inverse", model, scores, "-o", tmp_path / "other")  # no ending: a folder
    assert len(list((tmp_path / "other").iterdir())) == 20
    assert "FOLDER/ holds pictures" in all_said("inverse", model, scores, "-o", tmp_path / "x.doc", code=2)


def test_kernel_models_write_pictures_too(tmp_path):
    model = KernelPCA(3, kernel="rbf", gamma="scale", fit_inverse_transform=True).fit(read(FACES / 255))
    model.save(tmp_path / "m.safetensors")
    np.savetxt(tmp_path / "s.csv", model.transform(FACES.reshape(20, 48) / 255), delimiter=",")
    told = all_said("inverse", tmp_path / "m.safetensors", tmp_path / "s.csv", "-o", f"{tmp_path}/back/", "--no-header")
    assert "20 pictures of 8×6 pixels" in told
    assert sorted(path.name for path in (tmp_path / "back").iterdir())[:2] == ["01.png", "02.png"]
    assert "report written" in all_said("report", tmp_path / "m.safetensors")


def test_colour_in_reports_and_back(tmp_path):
    from PIL import Image

    pictures = np.stack([FACES, FACES[::-1], 255 - FACES], axis=-1)
    put(tmp_path / "x", pictures)
    run("fit", tmp_path / "x", "-k", 4)
    model, scores = tmp_path / "x-ritz" / "model.safetensors", tmp_path / "x-ritz" / "scores.parquet"
    assert load(model).image_shape_ == (8, 6, 3)
    assert (tmp_path / "x-ritz" / "report.html").read_text("utf-8").count("<img") == 5
    run("inverse", model, scores, "-o", f"{tmp_path}/back/")
    found = np.asarray(Image.open(tmp_path / "back" / "person 1" / "3.png"))
    np.testing.assert_allclose(found, pictures[3], atol=3)


def test_size_and_grey_are_those_of_the_fit(tmp_path):
    put(tmp_path / "x", np.stack([FACES] * 3, axis=-1))
    (tmp_path / "x" / "odd.png").write_bytes(png(FACES[0, :4]))
    told = all_said("fit", tmp_path / "x", "-k", 2, code=3)
    assert "'odd.png' has 4×6; --size 8x6 resizes all of them" in told
    run("fit", tmp_path / "x", "-k", 2, "--size", "4x3", "--grey")
    model = tmp_path / "x-ritz" / "model.safetensors"
    assert load(model).image_shape_ == (4, 3)
    assert "21 rows" in all_said("transform", model, tmp_path / "x", "-o", tmp_path / "s.csv")
    grey = put(tmp_path / "grey", FACES)
    run("fit", grey, "-k", 2)
    told = all_said("transform", tmp_path / "grey-ritz" / "model.safetensors", tmp_path / "x", code=3)
    assert "--size 8x6 resizes all of them" in told
    small = put(tmp_path / "small", FACES[:3, :6, :5])
    (small / "odd.png").write_bytes(png(FACES[0, :4]))
    told = all_said("transform", tmp_path / "grey-ritz" / "model.safetensors", small, code=3)
    assert "3 of 4 have 6×5 pixels" in told
    assert "; --size 8x6 resizes all of them" in told  # as the model has them
    told = all_said("fit", tmp_path / "s.csv", "--size", "4x3", code=3)
    assert "--size 4x3 is for folders of pictures alone, and 's.csv' is not one" in told


def test_advice_fits_what_is_read(tmp_path):
    """Every option that is named is one that the command takes for this source, and leads to scores."""
    colour = np.stack([FACES] * 3, axis=-1)
    for name, pictures in (("grey", FACES), ("colour", colour), ("small", colour[:, :4])):
        put(tmp_path / name, pictures)
        np.save(tmp_path / f"{name}.npy", pictures)
    for name in ("grey", "colour"):
        run("fit", tmp_path / f"{name}.npy", "-k", 2)
    grey, coloured = (tmp_path / f"{name}-ritz" / "model.safetensors" for name in ("grey", "colour"))
    for model, source, options, told in (
        (coloured, "grey.npy", (), "learned from 8×6×3; repeat each of their numbers three times first, as red, "),
        (coloured, "small.npy", (), "learned from 8×6×3; resize them to 8×6 first"),
        (grey, "colour.npy", (), "learned from 8×6; convert them to grey first"),
        (grey, "colour.npy", ("--grey",), "--grey is for folders of pictures alone, and 'colour.npy' is not one"),
        (coloured, "grey", ("--grey",), "learned from 8×6×3; leave out --grey"),
        (coloured, "grey", (), "20 rows"),
        (grey, "colour", (), "learned from 8×6; --grey reads all of them as grey"),
        (grey, "colour", ("--grey",), "20 rows"),
        (coloured, "small", (), "learned from 8×6×3; --size 8x6 resizes all of them to the size of the model"),
        (coloured, "small", ("--size", "8x6"), "20 rows"),
        (grey, "small", (), "learned from 8×6; --size 8x6 --grey resizes all of them to the size of the model"),
        (grey, "small", ("--size", "8x6", "--grey"), "20 rows"),
    ):
        command = ("transform", model, tmp_path / source, *options, "-o", tmp_path / "s.npy", "--force")
        assert told in all_said(*command, code=0 if "rows" in told else 3)


def test_idx_in_one_command(tmp_path):
    path = write_idx(tmp_path / "t10k-images-idx3-ubyte", FACES)
    write_idx(tmp_path / "t10k-labels-idx1-ubyte", (np.arange(20) % 5).astype(np.uint8))
    facts = answer("fit", path, "-k", 2, "-o", tmp_path / "out")
    assert (facts["rows"], facts["columns"], facts["label"]) == (20, 48, "label")
    model = load(tmp_path / "out" / "model.safetensors")
    assert model.image_shape_ == (8, 6)
    assert json.dumps(model.notes_["label"]) == '"label"'


@pytest.mark.parametrize(
    ("ends", "row", "pixels", "outside"),
    [
        ((0.0, 255.0), [0, 254.6, -3, 256], [0, 255, 0, 255], 2),
        ((0.0, 1.0), [0, 0.5, 1.0, 1.001], [0, 128, 255, 255], 0),
        ((0.0, 65535.0), [0, 1, 65535, 70000], [0, 1, 65535, 65535], 1),
        ((0.0, 16.0), [0, 8, 16, 16], [0, 128, 255, 255], 0),
        ((-1.0, 3.0), [-1, 0, 1, 4], [0, 64, 128, 255], 1),
        ((5.0, 5.0), [5, 5, 5, 5], [0, 0, 0, 0], 0),
        ((-1.5e308, 1.5e308), [-1.5e308, 0, 1.5e308, 1.5e308], [0, 128, 255, 255], 0),
    ],
)
def test_numbers_become_pixels(ends, row, pixels, outside):
    found, beyond = Scale((2, 2), *ends).pixels(np.array(row, float))
    assert (found.ravel().tolist(), beyond) == (pixels, outside)
    assert found.dtype == (np.uint16 if ends[1] == 65535 else np.uint8)
