"""Models for other runtimes: ONNX graphs whose scores are those of `transform`.

All is computed in double precision, whatever the precision of the rows: a row is centred before it is projected, so
that an offset costs no digits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz import __version__
from ritz.errors import DataError, MissingPackageError
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA
from ritz.kernels import Linear, Precomputed, Rbf
from ritz.kernels.distances import Laplacian
from ritz.kernels.embedding import Embedding
from ritz.kernels.products import Cosine, Polynomial, Sigmoid
from ritz.runtime.atomic import writing
from ritz.runtime.memory import format_bytes

# Old enough for runtimes in use, new enough for the operators below.
OPSET, IR_VERSION = 18, 8
LARGEST = (1 << 31) - (1 << 20)  # bytes of numbers, below the 2 GiB of a protocol buffer


def export_onnx(model: PCA | KernelPCA, path: str | os.PathLike[str]) -> None:
    """Write a model as an ONNX graph from rows "X" to "scores", whole or not at all.

    X has the precision of the rows that the model was learned from, float32 or float64, and any number of rows; scores
    have the same precision. A graph cannot refuse rows that hold NaN or infinities: their scores are not finite either.
    The metadata of the graph names the columns, the kind of model and the version of ritz.

    Parameters
    ----------
    model : a PCA, or a KernelPCA with a kernel of ritz and dense points
    path : of the file, usually with the ending .onnx; it is replaced if it exists

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> pca = PCA(1).fit(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(pca, f"{folder}/pca.onnx")
    ...     Path(f"{folder}/pca.onnx").stat().st_size > 0
    True
    """
    try:
        import onnx
    except ImportError:
        raise MissingPackageError("ONNX export needs the package onnx: pip install 'ritz[onnx]'") from None
    if not isinstance(model, PCA | KernelPCA):
        raise TypeError(f"expected a PCA or a KernelPCA, got {type(model).__name__}")
    model._check_fitted()
    made = _made(model, _Graph(onnx))
    onnx.checker.check_model(made, full_check=True)
    with writing(path) as new:
        new.write_bytes(made.SerializeToString())


def _made(model: PCA | KernelPCA, graph: _Graph) -> Any:
    """From rows to scores, and what the graph tells of the model."""
    rows = graph.add("Cast", "X", to=graph.onnx.TensorProto.DOUBLE)
    if isinstance(model, PCA):
        scores = _projected(graph, rows, model)
        dtype, k = model._dtype, model.n_components_
    else:
        embedding = model._state.embedding
        dtype, k = model._state.eigenvectors.dtype, embedding.n_components
        scores = _embedded(graph, rows, embedding)
    metadata = {"ritz_version": __version__, "kind": type(model).__name__}
    metadata["components"] = json.dumps(list(map(str, model.get_feature_names_out())))
    if (names := model.__dict__.get("feature_names_in_")) is not None:
        metadata["columns"] = json.dumps(list(map(str, names)))
    return graph.finished(scores, dtype, int(model.n_features_in_), k, metadata)


class _Graph:
    """Nodes and constants, each with a name of its own."""

    def __init__(self, onnx: Any, prefix: str = "") -> None:
        self.onnx, self._prefix = onnx, prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._bytes = 0

    def add(self, operator: str, *inputs: str | NDArray[Any] | float, **attributes: Any) -> str:
        """A node; arrays and numbers among its inputs become constants. Returns the name of its output."""
        names = [part if isinstance(part, str) else self.constant(part) for part in inputs]
        output = f"{self._prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def scaled(self, rows: str, weights: NDArray[Any]) -> str:
        """Every column times a number of its own.

        onnxruntime fuses a factor that is a single number into the product beside it, and rounds it to float32. So the
        number of a single column is a product too: with a matrix of one row and one column.
        """
        return self.add("Mul", rows, weights) if len(weights) > 1 else self.add("MatMul", rows, weights[:, None])

    def constant(self, value: NDArray[Any] | float) -> str:
        array, name = np.asarray(value), f"{self._prefix}constant_{len(self.constants)}"
        self._bytes += array.nbytes
        if self._bytes > LARGEST:
            raise DataError(
                f"an ONNX file holds at most {format_bytes(LARGEST)}, and this model is larger; use model.save"
            )
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def each_row(self, rows: str, points: NDArray[Any], distance: str) -> str:
        """Σ|x − z| or Σ(x − z)² of every row to all points, row by row: no memory for all differences at once."""
        helper, DOUBLE = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        body = _Graph(self.onnx, "each_")
        difference = body.add("Sub", "row", points)
        terms = body.add("Abs", difference) if distance == "cityblock" else body.add("Mul", difference, difference)
        sums = body.add("ReduceSum", terms, np.array([1]), keepdims=0)
        self._bytes += body._bytes
        inputs = [helper.make_tensor_value_info("row", DOUBLE, [points.shape[1]])]
        outputs = [helper.make_tensor_value_info(sums, DOUBLE, [len(points)])]
        inner = helper.make_graph(body.nodes, "distances", inputs, outputs, body.constants)
        return self.add("Scan", rows, body=inner, num_scan_inputs=1)

    def finished(self, scores: str, dtype: np.dtype[Any], d: int, k: int, metadata: dict[str, str]) -> Any:
        """The model, from rows to scores in that precision."""
        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes.append(helper.make_node("Cast", [scores], ["scores"], to=kind))
        inputs = [helper.make_tensor_value_info("X", kind, ["n", d])]
        outputs = [helper.make_tensor_value_info("scores", kind, ["n", k])]
        graph = helper.make_graph(self.nodes, "ritz", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="ritz")
        helper.set_model_props(made, metadata)
        return made


def _projected(graph: _Graph, rows: str, model: PCA) -> str:
    """Uᵀ((x − mean)/scale), divided by the deviations when whitening; what the mean's rounding left over comes last."""
    subspace = model.subspace_
    prepare = subspace.preprocessing(np.dtype(np.float64))
    if prepare.shift is not None:
        rows = graph.add("Sub", rows, prepare.shift)
    if prepare.weight is not None:
        rows = graph.scaled(rows, prepare.weight)
    scores = graph.add("MatMul", rows, subspace.axes)
    if prepare.delta is not None:
        scores = graph.add("Sub", scores, prepare.lacking(subspace.axes))
    if not model.whiten:
        return scores
    state: Any = model._state
    deviations = state.deviations
    with np.errstate(over="ignore"):
        whitening = np.divide(1.0, deviations, out=np.zeros(len(deviations)), where=deviations > 0)
    if not np.isfinite(whitening).all():
        least = float(np.min(deviations))
        raise DataError(
            f"whiten=True, but scores vary by {least:.0e}, whose inverse is no float64; multiply the data and fit again"
        )
    return graph.scaled(scores, whitening)


def _embedded(graph: _Graph, rows: str, embedding: Embedding) -> str:
    """The kernel's values at the points of the model, combined as the embedding combines them."""
    if not isinstance(embedding.points.Z, np.ndarray):
        raise DataError("ONNX has no sparse matrices, and this model has sparse points; fit it on dense rows")
    if type(embedding.kernel) not in KERNELS:
        raise DataError(f"kernel={embedding.kernel!r} is not a formula that ONNX could hold; use one of ritz")
    values = KERNELS[type(embedding.kernel)](graph, rows, embedding)
    if embedding.centred:  # the level does not matter but for the digits it saves
        level = graph.add("ReduceMean", values, np.array([1]), keepdims=1)
        values = graph.add("Sub", values, level)
    unit = embedding.frame.unit
    return graph.add("Sub", graph.add("MatMul", values, embedding.coefficients * unit), embedding.offset * unit)


def _points(graph: _Graph, rows: str, embedding: Embedding) -> str:
    """(x − origin)·weight."""
    frame = embedding.frame
    if frame.origin is not None:
        rows = graph.add("Sub", rows, frame.origin)
    return graph.scaled(rows, np.full(embedding.points.Z.shape[1], frame.weight))


def _inner(graph: _Graph, rows: str, embedding: Embedding) -> str:
    return graph.add("MatMul", _points(graph, rows, embedding), embedding.points.Z.T)


def _polynomial(graph: _Graph, rows: str, embedding: Any) -> str:
    base = graph.add("Add", _inner(graph, rows, embedding), float(embedding.frame.shift))
    return graph.add("Pow", base, float(embedding.kernel.degree))


def _sigmoid(graph: _Graph, rows: str, embedding: Any) -> str:
    return graph.add("Tanh", graph.add("Add", _inner(graph, rows, embedding), float(embedding.kernel.coef0)))


def _cosine(graph: _Graph, rows: str, embedding: Embedding) -> str:
    """Rows of unit length, divided by their largest entry first, so that no square leaves the range."""
    across = np.array([1])
    rows = _over(graph, rows, graph.add("ReduceMax", graph.add("Abs", rows), across, keepdims=1))
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), across, keepdims=1)
    return graph.add("MatMul", _over(graph, rows, graph.add("Sqrt", squares)), embedding.points.Z.T)


def _over(graph: _Graph, rows: str, by: str) -> str:
    """Rows divided by these numbers, by 1 where they are 0."""
    return graph.add("Div", rows, graph.add("Where", graph.add("Equal", by, 0.0), 1.0, by))


def _rbf(graph: _Graph, rows: str, embedding: Embedding) -> str:
    """By one product where that loses no digits, else from differences, as the fit decided."""
    if embedding.frame.exact:
        return _decayed(graph, rows, embedding, "sqeuclidean")
    rows = _points(graph, rows, embedding)
    sizes = graph.add("ReduceSum", graph.add("Mul", rows, rows), np.array([1]), keepdims=1)
    product = graph.add("MatMul", rows, 2.0 * embedding.points.Z.T)
    distance = graph.add("Sub", graph.add("Sub", product, sizes), embedding.points.sizes)
    return graph.add("Exp", graph.add("Min", distance, 0.0))


def _decayed(graph: _Graph, rows: str, embedding: Embedding, distance: str) -> str:
    """exp(−γ distance) from differences of entries."""
    found = graph.each_row(_points(graph, rows, embedding), embedding.points.Z, distance)
    return graph.add("Exp", graph.add("Mul", found, -float(embedding.frame.factor)))


def _given(graph: _Graph, rows: str, embedding: Embedding) -> str:
    """The columns of the points of the model, of values that come with the rows."""
    values = graph.add("Gather", rows, embedding.points.sizes.astype(np.int64), axis=1)
    return graph.scaled(values, np.full(len(embedding.points), embedding.frame.weight))


KERNELS: dict[type[Any], Callable[[_Graph, str, Embedding], str]] = {
    Linear: _inner,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Cosine: _cosine,
    Rbf: _rbf,
    Laplacian: partial(_decayed, distance="cityblock"),
    Precomputed: _given,
}
