"""What comes through a pipe is read as the file would be."""

import bz2
import gzip
import io
import subprocess
import sys

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import ipc

from helpers.commands import run
from helpers.files import X, table
from ritz import DataError, read
from ritz.rows.base import dense
from ritz.rows.formats.signatures import spooled

TEXT = ("\t".join("abcdefg") + "\n" + "\n".join("\t".join(map(repr, row)) for row in X.tolist())).encode()


def saved(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def as_arrow(new):
    def write(buffer):
        with new(buffer, table().schema) as writer:
            writer.write_table(table(), max_chunksize=70)

    return saved(write)


def as_hdf5(buffer):
    with h5py.File(buffer, "w") as file:
        file["x"] = X


MARKET = saved(lambda buffer: scipy.io.mmwrite(buffer, X, precision=17))
BYTES = {
    "parquet": (saved(lambda buffer: pq.write_table(table(), buffer)), ".parquet"),
    "Arrow file": (as_arrow(ipc.new_file), ".arrow"),
    "Arrow stream": (as_arrow(ipc.new_stream), ".arrow"),
    "npy": (saved(lambda buffer: np.save(buffer, X)), ".npy"),
    "npz": (saved(lambda buffer: np.savez(buffer, X)), ".npz"),
    "sparse": (saved(lambda buffer: sp.save_npz(buffer, sp.csr_array(X))), ".npz"),
    "HDF5": (saved(as_hdf5), ".h5"),
    "text": (TEXT, ".csv"),
    "text with a mark": (TEXT.decode().encode("utf-16"), ".csv"),
    "gzip": (gzip.compress(TEXT), ".csv.gz"),
    "bz2": (bz2.compress(TEXT), ".csv.bz2"),
    "zstd": (pa.compress(TEXT, codec="zstd", asbytes=True), ".csv.zst"),
    "Matrix Market": (MARKET, ".mtx"),
    "Matrix Market, gzip": (gzip.compress(MARKET), ".mtx.gz"),
}


class Trickle(io.RawIOBase):
    """A pipe that gives few bytes at a time."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def read(self, size=-1):
        return self._data.read(min(size, 7) if size >= 0 else 7)


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize("stream", [io.BytesIO, Trickle])
def test_every_format_is_told_by_its_first_bytes(tmp_path, kind, stream):
    data, suffix = BYTES[kind]
    path = spooled(stream(data), tmp_path)
    assert (path.parent, path.name) == (tmp_path, f"standard_input{suffix}")
    assert path.read_bytes() == data
    rows = read(path)
    np.testing.assert_array_equal(dense(rows.block(0, 300)), X)


def test_a_pipe_of_another_process(tmp_path):
    code = f"import sys; sys.stdout.write('a,b\\n' + '1,2.5\\n' * {10**6})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        path = spooled(process.stdout, tmp_path)
    assert read(path).shape == (10**6, 2)


def test_nothing_comes_through(tmp_path):
    with pytest.raises(DataError, match="standard input is empty; pipe a table into it, or give the name of a file"):
        spooled(io.BytesIO(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08\xff" * 9, gzip.compress(TEXT)[:200], b"P", b"\x00" * 50])
def test_what_is_cut_off_or_nonsense_is_an_error_when_it_is_read(tmp_path, data):
    path = spooled(io.BytesIO(data), tmp_path)
    with pytest.raises(DataError, match="standard_input"):
        read(path)


def test_a_pipe_is_called_what_people_call_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = run("fit", "-", code=3, input="a,b\n1,2\n3,4\n5,6,7\n8,9\n").stderr
    assert "line 4 of standard input" in told
    told = run("fit", "-", code=3, input="a,b\nx,y\nz,w\n").stderr
    assert "no column of standard input holds" in told
    assert run("info", "-", input="a,b\n1,2\n3,4.5\n5,6\n").stdout.endswith("next: ritz fit -\n")
