"""Files and folders that are not read: what they seem to be and what to do; and what to type after those that are."""

import gzip
import re
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from helpers.commands import run
from helpers.files import X, table
from ritz import DataError, read
from ritz.rows.formats.signatures import ENDINGS

RECIPES = {
    "a.PNG": "is an image; every picture of a folder is one row: pass the folder .*np.stack",
    "a.bed": "PLINK data set of genotypes; .*--recode A.*bed_reader",
    "a.xlsx": "spreadsheet; save the sheet as CSV, or pass pandas.read_excel",
    "a.sav": "SPSS file; pass pandas.read_spss",
    "a.rds": "an R data file; .*write.csv",
    "a.mat": "MATLAB file; .*loadmat",
    "a.pkl": "pickle, which may run any code",
    "a.pt": "PyTorch file; .*torch.load",
    "a.json": "JSON; .*read_json",
    "a.zip": "unpack it first",
    "a.npy.gz": r": \.npy\.gz is a \.npy file, compressed; unpack it first; only text",
    "a.csv.xz": r": \.csv\.xz is a \.csv file, compressed; unpack it first, or compress it as \.gz",
    "a.nii": r": \.nii is a NIfTI image; .*nibabel",
    "sub-01_bold.nii.gz": r": \.nii\.gz is a NIfTI image, compressed; .*nibabel\.load",
    "a.NII.GZ": r": \.nii\.gz is a NIfTI image",
    "a.fits.gz": r": \.fits\.gz is a FITS .*astropy.*does not read \.gz, unpack it first",
    "a.vcf.gz": r": \.vcf\.gz is a file of genotypes, compressed; .*plink2",
    "a.json.bz2": r": \.json\.bz2 is JSON, compressed; .*read_json",
    "a.tar.gz": r": \.tar\.gz is an archive; unpack it first",
    "a.b.gz": r": \.gz is an archive or a compressed file; unpack it first",
    "a.bin": r"vectors of words.*\.vec",
    "a.xyz": "unknown extension; known formats: .npy, ",
    "a": "unknown extension; known formats: .npy, ",
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_file_of_another_format_is_called_what_it_is(tmp_path, name):
    (tmp_path / name).write_bytes(b"whatever it holds")
    with pytest.raises(DataError, match=f"cannot read '{re.escape(name)}'.*{RECIPES[name]}"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x89PNG\r\n", "it begins like an image"),
        (b"PAR1....", "it begins like a .parquet file: if it is one, give it that ending"),
        (b"l\x1b\x01", "PLINK"),
        (b"", "known formats"),
    ],
)
def test_a_file_without_an_ending_is_known_by_its_beginning(tmp_path, head, words):
    (tmp_path / "data").write_bytes(head)
    with pytest.raises(DataError, match=words):
        read(tmp_path / "data")


@pytest.mark.parametrize("name", ["x.csv", "x.txt", "x.vec", "x.csv.gz"])
@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it begins like an image; every picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", "it begins like an image; every picture"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "it begins like a document; save its table as CSV"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00x.csv", "it begins like an archive; unpack it"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00[Content_Types].xml PK xl/workbook.xml", "a spreadsheet; save the sheet"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00arr_0.npy", "a .npz file: if it is one, give it that ending"),
        (b"PAR1\x15\x04\x15\x10", "a .parquet file: if it is one, give it that ending"),
        (b"\x1f\x8b\x08\x00", "an archive or a compressed file"),
        (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n", "a .mtx file: if it is one, give it"),
    ],
)
def test_what_is_named_like_text_is_called_what_it_is(tmp_path, name, head, words):
    data = head + b"\n1,2\n3,4\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(DataError, match=f"cannot read '{name}' as text: .*{re.escape(words)}"):
        read(tmp_path / name)


@pytest.mark.parametrize("word", ["PAR1", "MATLAB", "GIF8", "BZh", "ARROW1"])
def test_a_header_may_begin_like_another_format(tmp_path, word):
    (tmp_path / "x.csv").write_text(f"{word},b\n1,2\n3,5\n")
    assert read(tmp_path / "x.csv").names == (word, "b")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ["1.webp", "2.webp", "notes.txt"],
            r"it holds 2 \.webp, 1 \.txt \(\.webp is an image\); every picture .*\.png",
        ),
        (["x.bed", "x.bim", "x.fam"], r"1 \.bed, 1 \.bim, 1 \.fam \(.*PLINK.*plink --bfile NAME --recode A"),
        (["a.csv", "b.csv", "plot.png"], r"it holds 2 \.csv, 1 \.png\. Pass one file of it, such as .*a\.csv"),
        (
            ["1.nii.gz", "2.nii.gz", "x.csv"],
            r"it holds 2 \.nii\.gz, 1 \.csv \(\.nii\.gz is a NIfTI image, compressed\); .*nib",
        ),
        (
            ["a.csv.gz", "b.csv.gz", "p.png"],
            r"it holds 2 \.csv\.gz, 1 \.png\. Pass one file of it, such as .*a\.csv\.gz",
        ),
        (["zarr.json"], r"looks like Zarr; let its name end in \.zarr"),
        ([".hidden"], "it is empty"),
        (["a.xyz", "b.xyz", "README"], r"2 \.xyz, 1 without an ending; known formats"),
    ],
)
def test_a_folder_is_told_what_it_holds(tmp_path, names, words):
    folder = tmp_path / "things"
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    with pytest.raises(DataError, match=words) as caught:
        read(folder)
    assert str(folder) in str(caught.value)
    assert re.search(words, run("fit", folder, code=3).stderr)


def test_every_foreign_ending_is_foreign():
    from ritz.rows.formats.read import FORMATS

    assert not set(ENDINGS) & set(FORMATS)


def written(path, ending):
    if ending in (".csv", ".tsv", ".txt"):
        np.savetxt(path, X, delimiter="\t")
    elif ending == ".csv.gz":
        with gzip.open(path, "wt") as file:
            np.savetxt(file, X, delimiter=",")
    elif ending == ".mtx":
        scipy.io.mmwrite(path, sp.coo_array(X))
    elif ending == ".parquet":
        pq.write_table(table(), path)
    else:
        (np.save if ending == ".npy" else np.savez)(path, X)


@pytest.mark.parametrize(
    ("ending", "scores"),
    [(".npy", ".npy"), (".npz", ".npy"), (".csv", ".csv"), (".tsv", ".tsv"), (".txt", ".csv"), (".csv.gz", ".csv"),
     (".parquet", ".parquet"), (".mtx", ".parquet")],
)  # fmt: skip
def test_what_to_type_next_is_of_the_format_of_the_input(tmp_path, ending, scores):
    path = tmp_path / f"x{ending}"
    written(path, ending)
    said = run("fit", path, "-k", "2").stdout
    assert re.search(rf"ritz transform \S+ NEW{re.escape(ending)} -o NEW-scores{re.escape(scores)}\n", said)
    run("transform", tmp_path / "x-ritz" / "model.safetensors", path, "-o", tmp_path / f"s{scores}")


def test_what_to_type_next_for_a_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    pq.write_table(table(), tmp_path / "parts" / "0.parquet")
    assert "NEW.parquet -o NEW-scores.parquet" in run("fit", tmp_path / "parts", "-k", "2").stdout


@pytest.mark.parametrize(("package", "name"), [("h5py", "x.h5"), ("h5py", "x.h5ad"), ("zarr", "x.zarr")])
def test_formats_that_need_an_extra_say_which(tmp_path, monkeypatch, package, name):
    extra = {"h5py": "hdf5", "zarr": "zarr"}[package]
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).mkdir() if package == "zarr" else (tmp_path / name).touch()
    with pytest.raises(ImportError, match=rf'pip install "ritz\[{extra}\]"'):
        read(tmp_path / name)
    assert f'pip install "ritz[{extra}]"' in run("fit", tmp_path / name, code=1).stderr
    assert f"ritz[{extra}]" in run("--help").stdout
    assert f"ritz[{extra}]" in run("fit", "--help").stdout


def test_a_folder_is_opened_by_what_is_a_table_for_sure(tmp_path):
    for name in ("ABOUT.txt", "notes.dat", "zebra.csv"):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"such as '.*zebra\.csv'"):
        read(tmp_path)
