"""What a file is by its name or its first bytes: of formats that are not read here, what to do with them; of what comes
through a pipe, how a file of it is called."""

from __future__ import annotations

import re
import shutil
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ritz.errors import DataError
from ritz.rows.formats.idx import DTYPES
from ritz.rows.formats.images import ENDINGS as READ_PICTURES
from ritz.rows.formats.images import files_in
from ritz.rows.formats.read import FORMATS, TEXTS, suffix_of

CHUNK = 1 << 22
MARKET = b"%%MatrixMarket"
GZIP = b"\x1f\x8b"
IDX_BEGINNINGS = tuple(bytes((0, 0, code, axes)) for code in DTYPES for axes in range(1, 6))
# How the bytes of a format begin, and the end of the name of such a file. Whatever begins otherwise is text.
BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"\x89HDF\r\n\x1a\n": ".h5",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"BZh": ".csv.bz2",
    MARKET: ".mtx",
    **dict.fromkeys(IDX_BEGINNINGS, ".idx"),
}
UNPACK = "unpack it first; only text is read while it is unpacked"
REPACK = "unpack it first, or compress it as .gz, .zst or .bz2"
PICTURES = (
    "every picture of a folder is one row: pass the folder that holds them (.png, .jpg, .pgm, .ppm, .tif or .bmp), or "
    "one array of them, such as np.stack of what PIL.Image.open gives"
)
GENOTYPES = (
    "write its counts as text with plink --bfile NAME --recode A, rename NAME.raw to NAME.txt and read that, or pass "
    "the array that bed_reader.open_bed('NAME.bed').read() gives"
)
SAVE = "and pass it, or save it with np.save('x.npy', X)"
NIBABEL = f"take the array with nibabel.load(path).get_fdata(), make rows of it {SAVE}"
# Ends of names, what such files are, and the next step.
KINDS: list[tuple[str, str, str]] = [
    (".png .jpg .jpeg .gif .bmp .tif .tiff .webp .heic .pgm .ppm .pbm .pnm", "an image", PICTURES),
    (".bed .bim .fam", "a part of a PLINK data set of genotypes", GENOTYPES),
    (".pgen .psam .pvar", "a part of a PLINK 2 data set of genotypes", GENOTYPES.replace("--bfile", "--pfile")),
    (".vcf .bcf .bgen", "a file of genotypes", "write counts as text with plink2 --export A, rename .raw to .txt"),
    (".xlsx .xls .ods", "a spreadsheet", "save the sheet as CSV, or pass pandas.read_excel(path) in Python"),
    (".sav .zsav .por", "an SPSS file", "pass pandas.read_spss(path), or export it as CSV"),
    (".dta", "a Stata file", "pass pandas.read_stata(path), or export it as CSV"),
    (".sas7bdat .xpt", "a SAS file", "pass pandas.read_sas(path), or export it as CSV"),
    (".rds .rda .rdata", "an R data file", "write it as CSV in R: write.csv(x, 'x.csv', row.names = FALSE)"),
    (".mat", "a MATLAB file", f"take the matrix with scipy.io.loadmat(path)['X'] (version 7.3: h5py) {SAVE}"),
    (".pkl .pickle .joblib", "a pickle, which may run any code", f"open it yourself if you trust it {SAVE}"),
    (".pt .pth .ckpt", "a PyTorch file", f"take the tensor with torch.load(path).numpy() {SAVE}"),
    (".safetensors", "a file of tensors", f"take one with safetensors.numpy.load_file(path)['X'] {SAVE}"),
    (".json .jsonl .ndjson", "JSON", "make a table of it with pandas.read_json(path), and pass that or save it as CSV"),
    (".db .sqlite .sqlite3 .duckdb", "a database", "pass the table that pandas.read_sql gives, or save it as CSV"),
    (".orc .avro", "a table of another format", "write it as Parquet, such as pyarrow.orc.read_table(path)"),
    (".nc .nc4 .cdf", "NetCDF", f"take the matrix with xarray.open_dataset(path)['X'].values {SAVE}"),
    (".loom", "a matrix in HDF5", "copy it to a file that ends in .h5; its samples are columns, so use transpose"),
    (".nii", "a NIfTI image", NIBABEL),
    (".mgh .mgz", "a FreeSurfer image", NIBABEL),
    (".fits .fit .fts", "a FITS image or table", f"read it with astropy.io.fits, make rows of it {SAVE}"),
    (".dcm", "a DICOM image", f"take the array with pydicom.dcmread(path).pixel_array, make rows of it {SAVE}"),
    (".nrrd .mha .mhd", "a medical image", f"read it with SimpleITK, make rows of it {SAVE}"),
    (".wav .mp3 .flac .mp4 .avi .mov", "audio or video", f"make an array of it, a row per sample or frame, {SAVE}"),
    (".pdf .doc .docx .html .htm .xml", "a document", "save its table as CSV"),
    (".bin", "binary, and may be anything", "if it holds vectors of words, save them as text that ends in .vec"),
    (".zip .tar .tgz .7z .rar", "an archive", UNPACK),
    (".xz .gz .zst .bz2 .lz4 .z", "an archive or a compressed file", UNPACK),
]
ENDINGS = {ending: (kind, step) for endings, kind, step in KINDS for ending in endings.split()}
PACKINGS = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".z", ".zip")  # ends behind the one that tells what is in it
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
    GZIP: ".gz",
    b"\xfd7zXZ\x00": ".xz",
    b"7z\xbc\xaf": ".7z",
    b"Rar!\x1a": ".rar",
    b"\xd0\xcf\x11\xe0": ".xls",
}
NO_TABLES = (b"%PDF-", MARKET)  # signatures in plain letters, with which no table begins
# Names of files in archives that are more than that.
INSIDE = {b".npy": ".npz", b"xl/wor": ".xlsx", b"[Content_Types].xml": ".docx", b"opendocument.spreadsheet": ".ods"}
UNTEXTUAL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has
HEAD = 1 << 16  # bytes that are looked at
ANY = (".txt", ".dat")  # ends of names of tables, and of texts of any kind
COMMON = 3  # ends of names in a folder that are shown
KNOWN = f"known formats: {', '.join(FORMATS)}"


def about_file(path: Path) -> str:
    """What a file that nothing opens seems to be by its name, or else by how it begins, and the next step."""
    ending = _ending(path)
    about = _about(ending)
    if about is not None:
        return f"cannot read {path.name!r}: {ending} is {about[0]}; {about[1]}"
    with path.open("rb") as file:
        found = _begun(file.read(HEAD))
    if found in ENDINGS:
        return f"cannot read {path.name!r}: {_told(found)}"
    advice = KNOWN if found is None else f"{_told(found)}; {KNOWN}"
    return f"cannot read {path.name!r}: unknown extension; {advice}"


def check_is_text(head: bytes, path: Path) -> None:
    """Refuse what begins, once it is unpacked, like a file of another format, although its name says that it is text.

    Words such as PAR1 may begin a header: bytes that no text has must be there too.
    """
    found = _begun(head[:HEAD])
    if found is not None and (head.startswith(NO_TABLES) or UNTEXTUAL.search(head[:HEAD])):
        raise DataError(f"cannot read {path.name!r} as text: {_told(found)}", file=path.name)


def _begun(head: bytes) -> str | None:
    """The end of the names of files that begin like this one; None where nothing is known that does."""
    found = next((end for begin, end in (BEGINNINGS | MORE_BEGINNINGS).items() if head.startswith(begin)), None)
    return next((end for name, end in INSIDE.items() if name in head), ".zip") if found == ".npz" else found


def _told(found: str) -> str:
    """What such files are, and the next step."""
    if found not in ENDINGS:
        return f"it begins like a {found} file: if it is one, give it that ending"
    kind, step = ENDINGS[found]
    return f"it begins like {kind}; {step}"


def _ending(path: Path) -> str:
    """The end of a name that tells what is in a file, and with it how that is packed."""
    outer, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner + outer if outer in PACKINGS and (inner in ENDINGS or inner in FORMATS) else outer


def _about(ending: str) -> tuple[str, str] | None:
    """What files are whose names end so, and the next step; None where nobody knows."""
    if ending in ENDINGS or "." not in ending[1:]:
        return ENDINGS.get(ending)
    inner, outer = (f".{part}" for part in ending[1:].split("."))
    if inner in FORMATS:
        return f"a {inner} file, compressed", REPACK if inner in TEXTS else UNPACK
    kind, step = ENDINGS[inner]
    if step == UNPACK:
        return kind, step
    return f"{kind}, compressed", f"{step}; where that does not read {outer}, unpack it first"


def about_folder(path: Path) -> str:
    """What a folder holds that is no table, and the next step."""
    missing = (
        f"the folder {str(path)!r} has no .parquet or .pq file, and is not a Zarr or 10x folder or one of pictures"
    )
    if any((path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        return f"the folder {str(path)!r} looks like Zarr; let its name end in .zarr"
    files = sorted(files_in(path))
    counts = Counter(_ending(file) or "without an ending" for file in files)
    if not counts:
        return f"{missing}: it is empty; put files into it, or pass another folder"
    shown = ", ".join(f"{count} {ending}" for ending, count in counts.most_common(COMMON))
    readable = sorted((file for file in files if suffix_of(file) in FORMATS), key=lambda file: suffix_of(file) in ANY)
    read = {_ending(file) for file in readable}
    foreign = next((end for end, _ in counts.most_common() if end not in read and _about(end)), None)
    if readable and (foreign is None or max(counts[end] for end in read) >= counts[foreign]):
        return f"{missing}; it holds {shown}. Pass one file of it, such as {str(readable[0])!r}"
    kind, step = (foreign and _about(foreign)) or ("", KNOWN)
    return f"{missing}; it holds {shown}{f' ({foreign} is {kind})' if foreign else ''}; {step}"


def holds_pictures(path: Path) -> bool:
    """Whether a folder is one of pictures: there are some, and more of them than of any kind of table."""
    counts = Counter(suffix_of(file) for file in files_in(path))
    pictures = sum(counts[ending] for ending in READ_PICTURES)
    return pictures > max((count for ending, count in counts.items() if ending in FORMATS), default=0)


def spooled(stream: BinaryIO, folder: Path) -> Path:
    """A file in `folder` with all bytes of a stream such as ``sys.stdin.buffer``, named after what they are.

    Examples
    --------
    >>> import io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spooled(io.BytesIO(b"a;b\\n1,5;2\\n"), Path(folder)).name
    'standard_input.csv'
    """
    head = _head(stream)
    if not head:
        raise DataError("standard input is empty; pipe a table into it, or give the name of a file")
    path = Path(folder) / f"standard_input{_suffix(head)}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, CHUNK)
    return path


def _head(stream: BinaryIO) -> bytes:
    """The first bytes; a pipe may give fewer at a time than it is asked for."""
    head = b""
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


def _suffix(head: bytes) -> str:
    if head.startswith(GZIP):
        unpacked = b""
        with suppress(zlib.error):
            unpacked = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, len(MARKET))
        return ".idx.gz" if unpacked.startswith(IDX_BEGINNINGS) else ".mtx.gz" if unpacked == MARKET else ".csv.gz"
    return next((suffix for beginning, suffix in BEGINNINGS.items() if head.startswith(beginning)), ".csv")
