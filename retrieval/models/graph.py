"""A transformer's body as a graph for ONNX Runtime, with its layers' weights in 8 bits.

Each linear part multiplies integers: its weights, with a scale for each output, and its input, with
a scale for each token. ONNX Runtime's own tools use one scale for all tokens of a batch. Then one
token with large numbers rounds all others to 0: a tenth of the verifier's labels change, here two
to four in a hundred (``research/benchmarks/networks.py``). Also, the result for a text would
depend on the other texts of its batch.

Weights lie between -63 and 63. Processors without VNNI add two products of an input (8 bits) and a
weight in 16 bits, and 255 * 63 * 2 still fits. So the products are the same on every processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from retrieval.models.arrays import MASK, STATES, VECTORS, Body, Layer, Part

LARGEST_WEIGHT = 63
LARGEST_INPUT, _MIDDLE = 127, 128  # inputs are stored as 1 to 255, of which 128 is 0
TINY = 1e-9  # the scale of a token whose numbers are all 0
_MICROSOFT = "com.microsoft"


def body_graph(body: Body, first_only: bool) -> ModelProto:
    """Return the graph of everything after the word embeddings.

    Inputs: ``vectors``, float32 ``(rows, tokens, width)``, the embeddings of the words, and
    ``mask``, int32 ``(rows, tokens)``, 1 for tokens and 0 for padding. Output: ``states``, float32
    ``(rows, tokens, width)``, the last layer's; if ``first_only``, those of each row's first token,
    ``(rows, 1, width)``: the last layer then computes nothing else.
    """
    return _Graph(body).model(first_only)


class _Graph:
    """Appends operations to a graph. Each method returns the name of its output."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._width = body.words.shape[1]
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def model(self, first_only: bool) -> ModelProto:
        body = self._body
        self._shape = self._do("Shape", [VECTORS])
        tokens = self._do("Slice", [self._shape, self._numbers(1), self._numbers(2)])
        positions = self._do(
            "Slice", [self._constant(body.positions), self._numbers(0), tokens, self._numbers(0)]
        )
        embedded = self._norm(self._do("Add", [VECTORS, positions]), body.embedding_norm)
        self._bias = ""
        if body.attention_bias is not None:
            square = self._do("Concat", [tokens, tokens], axis=0)
            self._bias = self._do(
                "Slice",
                [
                    self._constant(body.attention_bias[None]),
                    self._numbers(0, 0),
                    square,
                    self._numbers(2, 3),
                ],
            )
        states = self._flat(embedded)
        *layers, last = body.layers
        for layer in layers:
            states = self._layer(states, layer)
        states = self._layer(states, last, first_only)
        one = self._numbers(0, 1, -1) if first_only else self._shape
        self._nodes.append(helper.make_node("Reshape", [states, one], [STATES]))
        return helper.make_model(self._graph(), ir_version=10, opset_imports=_VERSIONS)

    def _graph(self) -> Any:
        of = helper.make_tensor_value_info
        vectors = of(VECTORS, TensorProto.FLOAT, ["rows", "tokens", self._width])
        mask = of(MASK, TensorProto.INT32, ["rows", "tokens"])
        states = of(STATES, TensorProto.FLOAT, ["rows", "read", self._width])
        return helper.make_graph(self._nodes, "body", [vectors, mask], [states], self._constants)

    def _layer(self, states: str, layer: Layer, first_only: bool = False) -> str:
        """Return the states after a layer; states are of shape ``(rows * tokens, width)``."""
        given = self._quantised(states)
        keys, values = self._linear(given, layer.key), self._linear(given, layer.value)
        asking = states
        if first_only:
            asking = self._first(states)
            given = self._quantised(asking)
        query = self._linear(given, layer.query)
        attention = self._do(
            "MultiHeadAttention",
            [
                self._rows(query, first_only),
                self._rows(keys),
                self._rows(values),
                "",
                MASK,
                self._bias_of(first_only),
            ],
            _MICROSOFT,
            num_heads=self._body.heads,
        )
        found = self._linear(self._quantised(self._flat(attention)), layer.attended)
        attended = self._norm(self._do("Add", [asking, found]), layer.attended_norm)
        wide = self._do("Gelu", [self._linear(self._quantised(attended), layer.widen)])
        narrow = self._linear(self._quantised(wide), layer.narrow)
        return self._norm(self._do("Add", [attended, narrow]), layer.output_norm)

    def _linear(self, given: tuple[str, str], linear: Part) -> str:
        numbers, scale = given
        weight = linear.weight.T
        of_output = np.abs(weight).max(0) / LARGEST_WEIGHT + np.float32(TINY)
        product = self._do(
            "MatMulIntegerToFloat",
            [
                numbers,
                self._constant(np.round(weight / of_output).astype(np.int8)),
                self._constant(np.float32(1)),
                self._constant(of_output.astype(np.float32)),
                self._constant(np.uint8(_MIDDLE)),
                self._constant(np.zeros(len(of_output), np.int8)),
            ],
            _MICROSOFT,
        )
        return self._do("Add", [self._do("Mul", [product, scale]), self._constant(linear.bias)])

    def _quantised(self, states: str) -> tuple[str, str]:
        """Return integers, 0 at 128, and the scale of each token, ``(rows * tokens, 1)``."""
        largest = self._do("ReduceMax", [self._do("Abs", [states]), self._numbers(1)], keepdims=0)
        scale = self._do(
            "Max",
            [
                self._do("Mul", [largest, self._constant(np.float32(1 / LARGEST_INPUT))]),
                self._constant(np.float32(TINY)),
            ],
        )
        middle = self._do(
            "ConstantOfShape",
            [self._do("Shape", [scale])],
            value=numpy_helper.from_array(np.array([_MIDDLE], np.uint8)),
        )
        numbers = self._do("QuantizeLinear", [states, scale, middle], axis=0)
        return numbers, self._do("Unsqueeze", [scale, self._numbers(1)])

    def _norm(self, states: str, norm: Part) -> str:
        weights = [self._constant(norm.weight), self._constant(norm.bias)]
        return self._do(
            "LayerNormalization", [states, *weights], axis=-1, epsilon=self._body.epsilon
        )

    def _flat(self, states: str) -> str:
        return self._do("Reshape", [states, self._numbers(-1, self._width)])

    def _rows(self, states: str, first_only: bool = False) -> str:
        shape = self._numbers(-1, 1, self._width) if first_only else self._shape
        return self._do("Reshape", [states, shape])

    def _first(self, states: str) -> str:
        """Return the states of each row's first token, ``(rows, width)``."""
        return self._do("Gather", [self._rows(states), self._constant(np.int64(0))], axis=1)

    def _bias_of(self, first_only: bool) -> str:
        if not self._bias or not first_only:
            return self._bias
        first = [self._numbers(0), self._numbers(1), self._numbers(2)]
        return self._do("Slice", [self._bias, *first])

    def _do(self, operation: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        name = f"{operation}-{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, inputs, [name], domain=domain, **attributes))
        return name

    def _numbers(self, *numbers: int) -> str:
        return self._constant(np.array(numbers, np.int64))

    def _constant(self, value: NDArray[Any] | np.generic) -> str:
        name = f"constant-{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name


_VERSIONS = [helper.make_opsetid("", 21), helper.make_opsetid(_MICROSOFT, 1)]
