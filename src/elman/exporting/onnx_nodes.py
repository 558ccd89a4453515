"""Puts an ONNX graph together, node by node."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Axes = list[str | int]  # a name is an axis of any size
Port = tuple[int, Axes]  # element type and axes

OPSET, IR_VERSION = 20, 10  # those of onnxruntime 1.17 and newer
INT32, FLOAT, BOOL = TensorProto.INT32, TensorProto.FLOAT, TensorProto.BOOL


class OnnxNodes:
    """The nodes and constants of a graph; tensors go by their names.

    Example:
        >>> nodes = OnnxNodes()
        >>> doubled = nodes.add("Mul", "x", nodes.constant(np.float32(2.0)))
        >>> model = nodes.model("double", inputs={"x": (FLOAT, ["B"])}, outputs={"y": (FLOAT, ["B"], doubled)})
        >>> [node.op_type for node in model.graph.node]
        ['Mul', 'Identity']
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any, name: str | None = None) -> str:
        """An array that is stored in the file; its name."""
        name = name or f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output; the output's name."""
        return self.add_many(operator, *inputs, outputs=1, **attributes)[0]

    def add_many(self, operator: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """A node with several outputs; their names. An input "" is one that is left out."""
        number = len(self._nodes)
        names = [f"{operator.lower()}_{number}_{place}" for place in range(outputs)]
        self._nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def model(
        self,
        name: str,
        *,
        inputs: dict[str, Port],
        outputs: dict[str, tuple[int, Axes, str]],
        metadata: dict[str, str] | None = None,
    ) -> Any:
        """The whole, checked.

        Args:
            name: Of the graph.
            inputs: Name -> element type and axes; an axis is a number or a name.
            outputs: Name -> element type, axes, and which tensor it is.
            metadata: What is written into the file beside the graph.
        """
        for output, (_, _, tensor) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [tensor], [output]))
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(key, kind, axes) for key, (kind, axes) in inputs.items()],
            [helper.make_tensor_value_info(key, kind, axes) for key, (kind, axes, _) in outputs.items()],
            initializer=self._constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="elman")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, metadata or {})
        onnx.checker.check_model(model, full_check=True)
        return model
