"""A sparse matrix times few columns, compiled by numba, whose import is worth it for large matrices alone.

Numba's own loop over columns would read and write the sum of a row anew for every entry, and check each time whether
what it writes is what it reads. Here that sum stays in vector registers: LLVM is told of vectors by their length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

REAL, LANE = ir.DoubleType(), ir.IntType(32)


def gather(data: Any, indices: Any, indptr: Any, panel: Any, out: Any, left: int, start: int, stop: int) -> None:
    """Rows `start` to `stop` of the product with a panel, into the columns of `out` from `left` on; to be compiled.

    A panel has 8, 16 or 32 columns, and more than are left in `out` where these are no such number.
    """
    width = panel.shape[1]
    wanted, sums = min(width, out.shape[1] - left), np.empty(width)
    for i in range(start, stop):
        if width == 8:
            _row_sum(8, data, indices, panel, sums, indptr[i], indptr[i + 1])
        elif width == 16:
            _row_sum(16, data, indices, panel, sums, indptr[i], indptr[i + 1])
        else:
            _row_sum(32, data, indices, panel, sums, indptr[i], indptr[i + 1])
        for j in range(wanted):
            out[i, left + j] = sums[j]


def _generating(typing: Any, width: Any, data: Any, indices: Any, panel: Any, sums: Any, first: Any, last: Any) -> Any:
    """sums[j] = Σ data[p]·panel[indices[p], j] for p from `first` to `last`, of the `width` columns of the panel."""
    signature = types.void(width, data, indices, panel, sums, types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, given, (first, last) = signature.args[1:5], args[1:5], args[5:]
        arrays = [context.make_array(kind)(context, builder, value) for kind, value in zip(kinds, given, strict=True)]
        vector, length = ir.VectorType(REAL, width.literal_value), ir.Constant(first.type, width.literal_value)

        def entry(which: int, p: Any, wanted: Any) -> Any:
            kind = kinds[which].dtype
            stored = context.unpack_value(builder, kind, builder.gep(arrays[which].data, [p]))
            return context.cast(builder, stored, kind, wanted)

        def at(address: Any) -> Any:
            return builder.bitcast(address, vector.as_pointer())

        total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
        with cgutils.for_range_slice(builder, first, last, ir.Constant(first.type, 1), inc=True) as (p, _):
            place = builder.mul(entry(1, p, types.intp), length)
            row = builder.load(at(builder.gep(arrays[2].data, [place])), align=8)
            part = builder.fmul(_spread(builder, entry(0, p, types.float64), vector), row, flags=("contract",))
            builder.store(builder.fadd(builder.load(total), part, flags=("contract",)), total)
        builder.store(builder.load(total), at(arrays[3].data), align=8)
        return context.get_dummy_value()

    return signature, generate


_row_sum: Any = intrinsic(prefer_literal=True)(_generating)  # which takes one argument less


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of nothing but this value."""
    lanes = ir.Constant(ir.VectorType(LANE, vector.count), None)  # zeros: each is the first lane
    alone = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(LANE, 0))
    return builder.shuffle_vector(alone, ir.Constant(vector, ir.Undefined), lanes)
