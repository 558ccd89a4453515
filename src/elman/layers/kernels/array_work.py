"""A recurrent layer forward and backward in NumPy arrays: arrays made, kernels run."""

from collections.abc import Sequence

import numpy as np

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array, read_only
from elman.layers.kernels.cell import CellKernel, Plan, Reading, total
from elman.layers.kernels.matmul import PANEL, pack_panels, pack_panels_transposed
from elman.layers.kernels.threads import run_parts, share
from elman.layers.kernels.tokens import gradient_runs, plan_runs, project_runs


class ArrayWork:
    """Calls the kernels of one cell.

    Args:
        cell: The cell.
        reading: How the sequence is read.
        units: U.
        threads: At most so many threads work at once.
    """

    def __init__(self, cell: CellKernel, reading: Reading, *, units: int, threads: int) -> None:
        self.cell, self.reading, self.units, self.threads = cell, reading, units, threads

    def forward_shapes(self, batch: int | None, length: int | None, *, keep: bool) -> list[tuple[int | None, ...]]:
        """Return the shapes of what `forward` and `forward_keeping` return."""
        sequence = length if self.reading.sequences else 0
        kept = length if keep else 0
        return [
            (batch, sequence, self.units),
            *[(batch, self.units)] * self.cell.states,
            *[(batch, kept, width * self.units) for width in self.cell.saved],
        ]

    def forward(self, *arrays: Array) -> list[Array]:
        """Return outputs and last states, and in place of the saved arrays empty ones.

        Args:
            arrays: x, kernel, recurrent kernel, bias, initial states, mask.
        """
        return self._forward(arrays, keep=False)

    def forward_keeping(self, *arrays: Array) -> list[Array]:
        """Return outputs, last states and what `backward` wants."""
        return self._forward(arrays, keep=True)

    def _forward(self, arrays: Sequence[Array], *, keep: bool) -> list[Array]:
        x, kernel, matrix, bias, *states, mask = arrays
        num_states = self.cell.states
        results = [buffers.empty(*shape) for shape in self.forward_shapes(*mask.shape, keep=keep)]  # type: ignore[arg-type]
        outputs, last, saved = results[0], results[1 : 1 + num_states], results[1 + num_states :]
        projected = self._project(x, kernel, mask)
        self.cell.forward(self._plan(mask), keep, projected, matrix, bias, states, outputs, last, saved)
        return results

    def _project(self, x: Array, kernel: Array, mask: Array) -> Array:
        """Return x W on the real steps: float32 (B, T, 16 P)."""
        panels = pack_panels(kernel)
        projected = buffers.empty(*mask.shape, panels.shape[0] * PANEL)
        parts = self._share_runs(mask, kernel.size)
        run_parts(lambda part: project_runs(x, panels, parts[part], projected), len(parts))
        return read_only(projected)

    def backward(self, *arrays: Array) -> list[Array]:
        """Return the gradients of x, kernel, recurrent kernel, bias and initial states.

        Args:
            arrays: Those of `forward`, then what it saved, then the gradients of outputs and last states.
        """
        num_states, num_saved = self.cell.states, len(self.cell.saved)
        x, kernel, matrix, bias, *rest = arrays
        del bias
        states, mask, rest = rest[:num_states], rest[num_states], rest[num_states + 1 :]
        saved, (d_outputs, *d_last) = rest[:num_saved], rest[num_saved:]
        batch, length = mask.shape
        d_projected = buffers.empty(batch, length, kernel.shape[1])
        d_inner = buffers.empty(*d_projected.shape) if self.cell.inner_apart else d_projected
        d_states = [buffers.empty(batch, self.units) for _ in states]
        d_bias = self.cell.backward(
            self._plan(mask), matrix, states, saved, d_outputs, d_last, d_projected, d_inner, d_states
        )
        products = (read_only(d_projected), read_only(d_inner))
        return [*self._token_gradients(x, kernel, mask, saved[-1], products), d_bias, *d_states]

    def _token_gradients(
        self, x: Array, kernel: Array, mask: Array, previous_h: Array, products: tuple[Array, Array]
    ) -> list[Array]:
        """Return the gradients of x, kernel and recurrent kernel from those of the two products."""
        parts = self._share_runs(mask, 3 * kernel.size)
        inputs, columns = kernel.shape
        padded = -(-columns // PANEL) * PANEL
        d_kernel = np.zeros((len(parts), inputs, padded), dtype=np.float32)
        d_matrix = np.zeros((len(parts), self.units, padded), dtype=np.float32)
        d_x = buffers.empty(*x.shape) if mask.all() else buffers.zeros(*x.shape)
        panels, apart = pack_panels_transposed(kernel), self.cell.inner_apart
        run_parts(
            lambda part: gradient_runs(
                x, previous_h, *products, apart, panels, parts[part], d_x, d_kernel[part], d_matrix[part]
            ),
            len(parts),
        )
        return [d_x, total(d_kernel[..., :columns]), total(d_matrix[..., :columns])]

    def _plan(self, mask: Array) -> Plan:
        multiply_adds = self.cell.gates * self.units * self.units
        return Plan(mask, self.reading, multiply_adds_per_step=multiply_adds, threads=self.threads)

    def _share_runs(self, mask: Array, multiply_adds_per_step: int) -> list[Array]:
        return share(plan_runs(mask), int(mask.sum()) * multiply_adds_per_step, threads=self.threads)
