"""PyTorch's precision: exact while anyone computes, and given back, whoever leaves last."""

import os
import threading

import numpy as np
import pytest

from helpers.arrays import tensor, torch
from ritz import PCA
from ritz.linalg.tf32 import full_precision
from ritz.rows.memory.device import DeviceRows

X = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def with_tf32():
    """PyTorch as one who asks for fast products has it."""
    before = torch().get_float32_matmul_precision()
    torch().set_float32_matmul_precision("high")
    yield torch().backends.cuda.matmul
    torch().set_float32_matmul_precision(before)


def test_tf32_is_off_inside_and_given_back(with_tf32):
    assert with_tf32.fp32_precision == "tf32"
    with full_precision():
        assert with_tf32.fp32_precision == "ieee"
        assert not torch().is_grad_enabled()
    assert with_tf32.fp32_precision == "tf32"
    assert torch().get_float32_matmul_precision() == "high"


def test_tf32_is_given_back_after_an_error(with_tf32):
    with pytest.raises(ZeroDivisionError), full_precision():
        raise ZeroDivisionError
    assert with_tf32.fp32_precision == "tf32"


def test_tf32_is_off_in_every_pass(with_tf32):
    seen = []

    def look(block):
        seen.append(with_tf32.fp32_precision)
        return block

    rows = DeviceRows(tensor(X))
    for _ in rows.each(look):
        assert with_tf32.fp32_precision == "tf32"  # between blocks, the caller's program runs
    rows.reduce(lambda blocks: [look(block) for block in blocks] and 0, max)
    rows.pairs(lambda a, b: look(a) @ b.T)
    assert set(seen) == {"ieee"}
    PCA(1).fit(rows).transform(rows)
    assert with_tf32.fp32_precision == "tf32"


def test_tf32_is_off_inside_of_inside(with_tf32):
    with full_precision():
        with full_precision():
            assert with_tf32.fp32_precision == "ieee"
        assert with_tf32.fp32_precision == "ieee"
    assert with_tf32.fp32_precision == "tf32"


def test_of_two_threads_the_last_to_leave_gives_it_back(with_tf32):
    entered, leave, seen = threading.Event(), threading.Event(), []

    def other():
        with full_precision():
            entered.set()
            leave.wait()
            seen.append(with_tf32.fp32_precision)

    thread = threading.Thread(target=other)
    with full_precision():
        thread.start()
        entered.wait()
    assert with_tf32.fp32_precision == "ieee"  # the other computes
    leave.set()
    thread.join()
    assert seen == ["ieee"]
    assert with_tf32.fp32_precision == "tf32"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_the_child_of_a_fork_has_what_its_own_thread_holds(with_tf32):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with full_precision():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    if not (child := os.fork()):
        with full_precision():
            exact = with_tf32.fp32_precision == "ieee"
        os._exit(0 if exact and with_tf32.fp32_precision == "tf32" else 1)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
