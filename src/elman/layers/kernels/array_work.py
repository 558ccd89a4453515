"""A recurrent layer forward and backward in NumPy arrays: arrays made, kernels run."""

from collections.abc import Sequence

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array, read_only
from elman.layers.kernels.cell import CellKernel, Plan, Reading
from elman.layers.kernels.distinct import DistinctInputs, distinct_inputs, sum_by_row
from elman.layers.kernels.matmul import PANEL, pack_panels, pack_panels_transposed
from elman.layers.kernels.threads import run_parts, share
from elman.layers.kernels.tokens import input_gradient_runs, plan_runs, project_runs, weight_gradient_columns


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
        inputs = distinct_inputs(x, mask)
        projected = self._project(inputs, kernel)
        self.cell.forward(self._plan(mask), keep, projected, inputs.places, matrix, bias, states, outputs, last, saved)
        return results

    def _project(self, inputs: DistinctInputs, kernel: Array) -> Array:
        """Return x W of the rows that steps name: float32 (1, R, 16 P)."""
        panels = pack_panels(kernel)
        projected = buffers.empty(len(inputs.rows), panels.shape[0] * PANEL)
        parts = self._share_runs(inputs.runs, kernel.size)
        run_parts(lambda part: project_runs(inputs.rows, panels, parts[part], projected), len(parts))
        return read_only(projected[None])

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
        # Found again, not kept from the way forward: it takes a hundredth of a step, and would be one array more.
        real, inputs = mask.reshape(-1), distinct_inputs(x, mask)
        runs = plan_runs(real)
        parts = self._share_runs(runs, 3 * kernel.size)
        d_x = buffers.empty(*x.shape) if mask.all() else buffers.zeros(*x.shape)
        d_kernel, d_matrix = buffers.empty(*kernel.shape), buffers.empty(self.units, kernel.shape[1])
        panels = pack_panels_transposed(kernel)
        d_steps, d_inner = map(_steps, products)
        d_rows = buffers.zeros(len(inputs.rows), kernel.shape[1]) if inputs.joined else buffers.empty(0, 0)
        d_projected = read_only(d_rows) if inputs.joined else d_steps
        shared = not (inputs.joined or self.cell.inner_apart)
        # Each thread has columns of its own in the weights' gradients, so that no two have to be added up.
        edges = _column_edges(kernel.shape[1], len(parts))

        def work(part: int) -> None:
            columns = edges[part], edges[part + 1]
            input_gradient_runs(d_steps, panels, parts[part], _steps(d_x))
            if inputs.joined:
                sum_by_row(d_steps, inputs.places.reshape(-1), real, *columns, d_rows)
            weight_gradient_columns(
                inputs.rows, inputs.runs, d_projected, _steps(previous_h), runs, d_inner, shared, *columns,
                d_kernel, d_matrix,
            )  # fmt: skip

        if parts:
            run_parts(work, len(parts))
        else:  # no real step at all
            d_kernel.fill(0.0)
            d_matrix.fill(0.0)
        return [d_x, d_kernel, d_matrix]

    def _plan(self, mask: Array) -> Plan:
        multiply_adds = self.cell.gates * self.units * self.units
        return Plan(mask, self.reading, multiply_adds_per_step=multiply_adds, threads=self.threads)

    def _share_runs(self, runs: Array, multiply_adds_per_step: int) -> list[Array]:
        steps = int((runs[:, 1] - runs[:, 0]).sum())
        return share(runs, steps * multiply_adds_per_step, threads=self.threads)


def _steps(array: Array) -> Array:
    """Return (B, T, N) as (B T, N)."""
    return array.reshape(-1, array.shape[-1])


def _column_edges(columns: int, parts: int) -> list[int]:
    """Return where the columns of each part begin, and where the last ones end; in whole panels."""
    panels = -(-columns // PANEL)
    return [min(columns, panels * part // max(1, parts) * PANEL) for part in range(parts + 1)]
