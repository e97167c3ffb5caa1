"""Where pictures are written to: nothing is lost that was there, and names come from data that nobody has checked."""

import os

import numpy as np
import pytest

from helpers.commands import all_said, run
from ritz import PCA, load, read
from ritz.cli.pictures import file_names
from ritz.rows.write.png import png

FACES = np.random.default_rng(0).integers(0, 256, (9, 3, 2)).astype(np.uint8)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The file of a model of pictures, of two components."""
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    PCA(2).fit(read(FACES)).save(path)
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores(names, numbers="1,2"):
    """A file of scores, with a row of each of the names."""
    with open("s.csv", "w", encoding="utf-8") as file:
        file.writelines(["name,PC1,PC2\n", *(f"{name},{numbers}\n" for name in names)])
    return "s.csv"


def everything(folder):
    """What is in the files of a folder, None for folders, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("out", ["one.png", "folder/"])
def test_rows_without_scores_replace_nothing(here, model, out):
    scores(["a"], ",")
    for force in ([], ["--force"]):
        told = all_said("inverse", model, "s.csv", "-o", out, *force, code=3)
        assert "0 of 1 rows have scores, so there is no picture to write" in told
        if not force:
            assert os.listdir() == ["s.csv"]
            (here / "folder").mkdir()
            (here / "one.png").write_bytes(b"good")
            (here / "folder" / "a.png").write_bytes(b"good")
    assert everything(here / "folder") == {"a.png": b"good"}
    assert (here / "one.png").read_bytes() == b"good"


def test_a_folder_in_the_place_of_a_picture_and_a_file_in_that_of_a_folder(here, model):
    (here / "out" / "b.png").mkdir(parents=True)
    (here / "out" / "a.png").write_bytes(b"old")
    (here / "out" / "deep").write_bytes(b"a file")
    before = everything(here / "out")
    for names, code, words in (
        (["a", "b"], 2, "b.png' is a folder, and a file should be there; nothing was replaced; rename the folder"),
        (["a", "deep/er/b"], 1, "deep' is a file, and a folder should be there; nothing was replaced; rename the file"),
    ):
        told = all_said("inverse", model, scores(names), "-o", "out/", "--force", code=code)
        assert words in told
        assert everything(here / "out") == before
    run("inverse", model, scores(["a", "c/d"]), "-o", "out/", "--force")
    assert (here / "out" / "a.png").read_bytes() == (here / "out" / "c" / "d.png").read_bytes() != b"old"


def test_a_failure_midway_leaves_what_was_there(here, model, monkeypatch):
    made = []

    def fails_later(pixels):
        made.append(pixels)
        if len(made) == 2:
            raise OSError(28, "No space left on device")
        return png(pixels)

    (here / "out").mkdir()
    (here / "out" / "a.png").write_bytes(b"old")
    monkeypatch.setattr("ritz.cli.pictures.png", fails_later)
    for out in ("out/", "new/"):
        made.clear()
        command = ("inverse", model, scores(["a", "b", "c"]), "-o", out, "--force")
        assert f"No space left on device: '{out}'" in all_said(*command, code=1)
        assert len(made) == 2
    assert everything(here / "out") == {"a.png": b"old"}
    assert not (here / "new").exists()


def test_the_pictures_of_the_fit_are_not_replaced(here):
    for i, face in enumerate(FACES):
        path = here / "faces" / f"{i % 2}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(face))
    run("fit", "faces", "-k", 1)
    before = everything(here / "faces")
    for out in ("faces/", "faces/new/", "./faces"):
        command = ("inverse", "faces-ritz/model.safetensors", "faces-ritz/scores.parquet", "-o", out, "--force")
        assert "is the folder that the model was fitted to, or lies in it" in all_said(*command, code=2)
    assert everything(here / "faces") == before
    run("inverse", "faces-ritz/model.safetensors", "faces-ritz/scores.parquet", "-o", "back/")
    run("inverse", "faces-ritz/model.safetensors", "faces-ritz/scores.parquet", "-o", "back/", "--force")
    assert everything(here / "back").keys() == before.keys()
    np.save("x.npy", FACES)  # whose model says nothing of files: x/ is a folder like others
    run("fit", "x.npy", "-k", 1)
    for force in ([], ["--force"]):
        run("inverse", "x-ritz/model.safetensors", "x-ritz/scores.parquet", "-o", "x/", *force)


def test_a_folder_of_scores_does_not_get_pictures(here, model):
    (here / "s").mkdir()
    load(model).transform(FACES.reshape(9, 6), out="s/part.parquet")
    told = all_said("inverse", model, "s", "-o", "s/", "--force", code=2)
    assert "'s' is the folder that is read, or lies in it" in told
    assert os.listdir("s") == ["part.parquet"]


@pytest.mark.parametrize("out", ["one.png", "folder/"])
def test_the_format_of_standard_output_is_not_that_of_pictures(here, model, out):
    told = all_said("inverse", model, scores(["a"]), "-o", out, "--to", "csv", code=2)
    assert "--to csv is for standard output, and pictures are written as PNG files; leave it out" in told
    assert os.listdir() == ["s.csv"]


def named(*names):
    return file_names({"file": np.array(names, object)}, None, len(names))


def test_names_stay_inside_the_folder():
    found = named("../../etc/passwd", "/abs/a.png", "C:\\b.jpg", "a/../c", "", "x\x00y", "B", "b", "b_2", "B ")
    assert found == [
        "etc/passwd.png", "abs/a.png", "C_/b.png", "a/c.png", "row 5.png", "x_y.png", "B.png", "b_2.png", "b_2_2.png",
        "B_3.png",
    ]  # fmt: skip
    assert file_names({"kind": np.array(["a", "a"])}, None, 2) == ["1.png", "2.png"]
    assert file_names({"kind": np.array(["a", "b"]), "id": np.array(["u", "v"])}, "id", 2) == ["u.png", "v.png"]


def test_names_that_systems_do_not_take():
    assert named("con", "Com1.txt", "aux /x", "nul.png", "console") == [
        "_con.png", "_Com1.txt.png", "_aux/x.png", "_nul.png", "console.png",
    ]  # fmt: skip
    assert named("x" * 119 + ". y", "a.JPG.", "\ud800") == ["x" * 119 + ".png", "a.png", "_.png"]
    assert len({name.casefold() for name in named("é", "É", "e\u0301", "E\u0301")}) == 4
    assert named("é", "e\u0301") == ["é.png", "e\u0301_2.png"]  # one file, where systems compose letters


NAMES = ["/".join("a" * 1500), "/".join("a" * 1501), "a", "a.png/b", "A.PNG/b.png", "🙂" * 80, "🙂" * 81, "é" * 300]


def test_every_name_has_a_file_of_its_own(here, model):
    assert "8 pictures" in all_said("inverse", model, scores(NAMES), "-o", "out/")
    found = {name for name, content in everything(here / "out").items() if content is not None}
    assert found == set(named(*NAMES))
    assert {"a.png", "a.png_/b.png", "A.PNG_/b_2.png"} <= found
    assert max(len(part.encode()) for name in found for part in name.split("/")) <= 143
    assert max(name.count("/") for name in found) == 7
    inside = [os.path.commonpath([here / "out", os.path.realpath(here / "out" / name)]) for name in found]
    assert set(inside) == {str(here / "out")}


def test_names_that_are_cut_to_the_same_are_counted_on():
    found = named(*(f"{'x' * 200}{i}" for i in range(50)))
    assert found == [f"{'x' * 120}{f'_{i + 1}' * (i > 0)}.png" for i in range(50)]
