"""Files and folders of formats that are not read here: what they seem to be, and what to do with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ritz.rows.piped import BEGINNINGS

UNPACK = "unpack it first; only text is read while it is unpacked"
PICTURES = (
    "put pictures of one size into one array, a row each: import numpy as np; from PIL import Image; "
    "X = np.stack([np.asarray(Image.open(p)) for p in paths]).reshape(len(paths), -1); np.save('pictures.npy', X)"
)
GENOTYPES = (
    "write its counts as text with plink --bfile NAME --recode A, rename NAME.raw to NAME.txt and read that, or pass "
    "the array that bed_reader.open_bed('NAME.bed').read() gives"
)
SAVE = "and pass it, or save it with np.save('x.npy', X)"
# Ends of names, what such files are, and the next step.
KINDS: list[tuple[str, str, str]] = [
    (".png .jpg .jpeg .gif .bmp .tif .tiff .webp .heic .pgm .ppm", "a picture", PICTURES),
    (".bed .bim .fam", "a part of a PLINK data set of genotypes", GENOTYPES),
    (".pgen .psam .pvar", "a part of a PLINK 2 data set of genotypes", GENOTYPES.replace("--bfile", "--pfile")),
    (".vcf .bcf .bgen", "a file of genotypes", "write counts as text with plink2 --export A, rename .raw to .txt"),
    (".xlsx .xls .ods", "a spreadsheet", "save the sheet as CSV, or pass pandas.read_excel(path)"),
    (".sav .zsav .por", "a file of SPSS", "pass pandas.read_spss(path), or export it as CSV"),
    (".dta", "a file of Stata", "pass pandas.read_stata(path), or export it as CSV"),
    (".sas7bdat .xpt", "a file of SAS", "pass pandas.read_sas(path), or export it as CSV"),
    (".rds .rda .rdata", "a file of R", "write it as CSV in R: write.csv(x, 'x.csv', row.names = FALSE)"),
    (".mat", "a file of MATLAB", f"take the matrix with scipy.io.loadmat(path)['X'] (version 7.3: h5py) {SAVE}"),
    (
        ".pkl .pickle .joblib",
        "a pickle, which may run any code",
        f"open it yourself if you trust it {SAVE}",
    ),
    (".pt .pth .ckpt", "a file of PyTorch", f"take the tensor with torch.load(path).numpy() {SAVE}"),
    (".safetensors", "a file of tensors", f"take one with safetensors.numpy.load_file(path)['X'] {SAVE}"),
    (
        ".json .jsonl .ndjson",
        "JSON",
        "make a table of it with pandas.read_json(path) and pass that, or save it as CSV",
    ),
    (".db .sqlite .sqlite3 .duckdb", "a database", "pass the table that pandas.read_sql gives, or save it as CSV"),
    (".orc .avro", "a table of another format", "write it as Parquet, such as pyarrow.orc.read_table(path)"),
    (".nc .nc4 .cdf", "NetCDF", f"take the matrix with xarray.open_dataset(path)['X'].values {SAVE}"),
    (".loom", "a matrix in HDF5", "copy it to a file that ends in .h5; its samples are columns, so use transpose"),
    (
        ".fits .nii .dcm",
        "a scientific image",
        f"read it with astropy, nibabel or pydicom, make rows of it {SAVE}",
    ),
    (".wav .mp3 .flac .mp4 .avi .mov", "sound or film", f"make an array of it, a row for each sample or frame, {SAVE}"),
    (".pdf .doc .docx .html .htm .xml", "a document", "save its table as CSV"),
    (".zip .tar .tgz .7z .rar .xz .gz .zst .bz2", "an archive, or compressed", UNPACK),
]
ENDINGS = {ending: (kind, step) for endings, kind, step in KINDS for ending in endings.split()}
MORE_BEGINNINGS = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
    b"II*\x00": ".tif",
    b"MM\x00*": ".tif",
    b"l\x1b\x01": ".bed",
    b"$FL2": ".sav",
    b"MATLAB": ".mat",
    b"SQLite format 3": ".sqlite",
    b"%PDF": ".pdf",
    b"\x80\x04": ".pkl",
    b"\x80\x05": ".pkl",
    b"\x1f\x8b": ".gz",
}
COMMON = 3  # ends of names in a folder that are shown


def about_file(path: Path, known: list[str]) -> str:
    """What a file that nothing opens seems to be by its name, or else by how it begins, and the next step."""
    ending = path.suffix.lower()
    if ending in ENDINGS:
        kind, step = ENDINGS[ending]
        return f"cannot read {path.name!r}: {ending} is {kind}; {step}"
    with path.open("rb") as file:
        head = file.read(16)
    found = next((end for begin, end in (BEGINNINGS | MORE_BEGINNINGS).items() if head.startswith(begin)), None)
    if found in ENDINGS:
        kind, step = ENDINGS[found]
        return f"cannot read {path.name!r}: it begins like {kind}; {step}"
    advice = f"known formats: {', '.join(known)}"
    if found is not None:
        advice = f"it begins like a {found} file: if it is one, give it that ending; {advice}"
    return f"cannot read {path.name!r} by the end of its name; {advice}"


def about_folder(path: Path, known: list[str]) -> str:
    """What a folder holds that is no table, and the next step."""
    missing = f"the folder {str(path)!r} has no .parquet or .pq file, and is no Zarr or 10x folder"
    if any((path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        return f"the folder {str(path)!r} looks like Zarr; let its name end in .zarr"
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    counts = Counter(file.suffix.lower() or "without an ending" for file in files)
    if not counts:
        return f"{missing}: it is empty"
    shown = ", ".join(f"{count} {ending}" for ending, count in counts.most_common(COMMON))
    foreign = next((ending for ending, _ in counts.most_common() if ending in ENDINGS), None)
    readable = next((file for file in files if file.suffix.lower() in known), None)
    if readable is not None and (foreign is None or counts[readable.suffix.lower()] >= counts[foreign]):
        return f"{missing}; it holds {shown}. Pass one file of it, such as {str(readable)!r}"
    kind, step = ENDINGS[foreign] if foreign else ("", f"known formats: {', '.join(known)}")
    return f"{missing}; it holds {shown}{f' ({foreign} is {kind})' if foreign else ''}; {step}"
