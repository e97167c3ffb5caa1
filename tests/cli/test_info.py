"""What `ritz info` says is true of the whole file, and the command it suggests runs."""

import gzip
import shlex

import numpy as np
import pytest

from helpers.commands import answer, run
from ritz.rows import profile
from ritz.rows.text import lines

N = 80
RNG = np.random.default_rng(0)
NAN = float("nan")


def numbers(factors=(1, 2, 3, 4)):
    return RNG.standard_normal((N, len(factors))) * factors + 5


def changed(matrix, *changes):
    for place, value in changes:
        matrix[place] = value
    return matrix


def scattered(matrix, share):
    for i in range(0, N, share):
        matrix[i, i // share % matrix.shape[1]] = NAN
    return matrix


@pytest.mark.parametrize("options", [(), ("-k", "auto"), ("--scale",), ("--no-center",), ("--solver", "krylov")])
def test_one_row_is_told_in_words(tmp_path, options):
    (tmp_path / "x.csv").write_text("a,b,c\n1,2,3.5\n")
    said = run("fit", tmp_path / "x.csv", *options, code=3).stderr
    assert "ritz: one row has no variance; give at least 2 rows\n" in said
    told = run("info", tmp_path / "x.csv")
    assert "one row has no variance; give at least 2 rows" in told.stderr
    assert "next:" not in told.stdout


ABCD = ("a", "b", "c", "d")
# Names, numbers, and the options that the file needs.
TABLES = {
    "nothing to do": (ABCD, numbers(), ""),
    "two rows of nothing": (ABCD, changed(numbers(), ([3, 9], NAN)), "--missing drop"),
    "half of the rows hardly hold anything": (
        ABCD, changed(numbers(), (np.s_[:40, 1:], NAN)), "--missing drop",
    ),
    "gaps everywhere": (ABCD, scattered(numbers(), 2), "--missing mean"),
    "a gap in every row": (ABCD, scattered(numbers(), 1), "--missing mean"),
    "a column of gaps": (ABCD, changed(numbers(), (np.s_[5:, 2], NAN)), "--drop c"),
    "a column of nothing": (ABCD, changed(numbers(), (np.s_[:, 2], NAN)), ""),
    "a column of gaps, and others": (
        ABCD, scattered(changed(numbers(), (np.s_[5:, 2], NAN)), 2), "--missing mean --drop c",
    ),
    "an infinity": (ABCD, changed(numbers(), ((3, 1), np.inf)), "--drop b"),
    "different scales": (ABCD, numbers((1000, 1, 1, 1)), "--scale"),
    "a constant": (ABCD, changed(numbers((1000, 1, 1, 1)), (np.s_[:, 1], 7)), "--scale --drop-constant"),
    "constant where nothing is missing": (
        ABCD, changed(numbers((1000, 1, 1, 1)), (np.s_[:, 1], 7), ((4, 1), 9), ((4, 2), NAN)),
        "--scale --drop-constant --missing drop",
    ),
    "different units": (("height_cm", "weight_kg", "age_years"), numbers((10, 15, 12)), "--scale"),
    "the same unit": (("length_mm", "depth_mm"), numbers((1, 50)), ""),
    "one column": (("a",), numbers((1,)), ""),
    "two rows": (ABCD, numbers()[:2], ""),
    "a name like an option": (("x", "y z", "-w"), changed(numbers((1, 2, 3)), (np.s_[5:, 2], NAN)), "--drop -w"),
}  # fmt: skip


def write(path, names, matrix):
    cells = [["" if np.isnan(value) else repr(float(value)) for value in row] for row in matrix]
    path.write_text("\n".join(map(",".join, [names, *cells])) + "\n")
    return path


@pytest.mark.parametrize("name", TABLES)
def test_the_command_that_is_suggested_runs(tmp_path, name):
    names, matrix, options = TABLES[name]
    path = write(tmp_path / "x.csv", names, matrix)
    line = next(line for line in run("info", path).stdout.splitlines() if line.startswith("next: "))
    _, _, command, file, *words = shlex.split(line)
    assert (command, file, words) == ("fit", str(path), shlex.split(options))
    told = answer(command, file, *words)
    assert told["rows"] >= min(3, len(matrix))


def test_the_command_that_is_suggested_replaces_nothing(tmp_path):
    path = write(tmp_path / "x.csv", ABCD, numbers())
    for folder in ([], ["-o", str(tmp_path / "x-ritz-2")]):
        line = next(line for line in run("info", path).stdout.splitlines() if line.startswith("next: "))
        assert shlex.split(line)[4:] == folder
        run(*shlex.split(line)[2:])


def test_the_last_rows_count_as_much_as_the_first(tmp_path):
    late = np.concatenate([np.tile([1.0, 2.0, 3.0], (5000, 1)), RNG.standard_normal((500, 3)) * [1, 1, 30]])
    told = answer("info", write(tmp_path / "x.csv", ("a", "b", "c"), late))
    assert (told["whole"], told["constant"]) == (True, [])
    assert told["spread"] == pytest.approx(np.std(late, axis=0).max() / np.std(late, axis=0).min(), rel=1e-3)


@pytest.mark.parametrize("size", [4000, 1 << 22])
@pytest.mark.parametrize("packed", [False, True])
def test_large_files_are_looked_at_from_beginning_to_end(tmp_path, monkeypatch, size, packed):
    monkeypatch.setattr(lines, "PART_BYTES", size)
    monkeypatch.setattr(profile, "LOOKED_BYTES", 50_000)
    late = np.concatenate([np.tile([1.0, 2.0], (3000, 1)), RNG.standard_normal((3000, 2)) * [1, 3]])
    late[:, 1] = np.where(np.arange(6000) < 5999, 2.0, 3.0)
    path = write(tmp_path / "x.csv", ("a", "b"), late)
    if packed:
        (tmp_path / "x.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "x.csv.gz"
    told = answer("info", path)
    assert not told["whole"]
    assert told["constant"] in (["'b'"], [])
    assert told["deviations"][0] == pytest.approx(late[:, 0].std(), rel=0.1)
    said = run("info", path).stdout
    assert "rows spread over the file" in said
    assert "constant columns:" not in said


@pytest.mark.parametrize("gaps", [False, True])
def test_nothing_is_advised_where_no_column_varies(tmp_path, gaps):
    matrix = changed(np.tile([180.0, 80.0, 40.0], (20, 1)), *([((3, 1), NAN), ((3, 0), 7.0)] if gaps else []))
    path = write(tmp_path / "x.csv", ("height cm", "weight_kg", "age"), matrix)
    told = run("info", path)
    assert ("no column varies" if gaps else "all columns are constant") in told.stderr
    assert not any(word in told.stdout + told.stderr for word in ("--scale", "--drop-constant", "next:"))
    said = run("info", write(tmp_path / "one.csv", ("height cm", "weight_kg", "age"), matrix[:1]))
    assert "one row has no variance" in said.stderr
    assert "--" not in said.stdout + said.stderr


def test_a_model_is_named_with_the_parameters_that_are_not_the_defaults(tmp_path):
    path = write(tmp_path / "x.csv", ("a", "b", "c", "d"), numbers())
    run("fit", path, "-k", 2, "--scale", "--solver", "krylov")
    told = run("info", tmp_path / "x-ritz" / "model.safetensors").stdout.splitlines()
    assert told[1] == "  PCA(n_components=2, scale=True, svd_solver='krylov')"


def test_a_model_of_pictures_says_their_size(tmp_path):
    np.save(tmp_path / "x.npy", RNG.integers(0, 256, (6, 4, 5)).astype(np.uint8))
    run("fit", tmp_path / "x.npy", "-k", 2)
    model = tmp_path / "x-ritz" / "model.safetensors"
    told = run("info", model).stdout.splitlines()[0]
    assert told == "model.safetensors: a model of 20 columns, pictures of 4×5 pixels (height×width)"
    assert answer("info", model)["image_shape"] == [4, 5]
