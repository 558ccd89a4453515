"""PyTorch, in the ways that its users know; `python -m benchmarks.speed.pytorch_worker WAY`.

Ways for rows of different lengths:
    packed    `pack_padded_sequence`: no step of padding is worked on. The way of its documentation.
    gathered  Padding is worked on, and the output at each row's last true step is gathered. For two directions the rows
              are turned round by a gather first, so that the backward layer, too, begins with real tokens.
"""

import sys

import numpy as np
import torch
from torch import nn

from benchmarks.speed.worker import Step, serve
from benchmarks.speed.workloads import Batch, Workload

_CELLS = {"lstm": nn.LSTM, "gru": nn.GRU, "simple_rnn": nn.RNN}


class PyTorch:
    """See `worker.Library`."""

    def __init__(self, way: str) -> None:
        self.way = way

    def set_threads(self, threads: int) -> None:
        """Threads of PyTorch's products."""
        torch.set_num_threads(threads)

    def make_step(self, workload: Workload, batches: list[Batch], phase: str) -> Step:
        """Forward, backward, clipping and update in eager mode, PyTorch's usual way."""
        torch.manual_seed(1)
        language_model = workload.task == "language_model"
        model = _LanguageModel(workload) if language_model else _Classifier(workload, self.way)
        inputs = [_tensors(batch, language_model=language_model) for batch in batches]
        loss_of = nn.CrossEntropyLoss()
        if phase == "infer":
            model.eval()

            def infer() -> None:
                with torch.inference_mode():
                    for tokens, lengths, targets in inputs:
                        loss_of(model(tokens, lengths), targets).item()

            return infer
        parameters = list(model.parameters())
        optimizer = (
            torch.optim.SGD(parameters, lr=1.0, fused=True)
            if language_model
            else torch.optim.Adam(parameters, lr=1e-3, fused=True)
        )
        limit = 0.25 if language_model else 1.0

        def step() -> None:
            for tokens, lengths, targets in inputs:
                optimizer.zero_grad()
                loss = loss_of(model(tokens, lengths), targets)
                loss.backward()
                norm = nn.utils.clip_grad_norm_(parameters, limit)
                optimizer.step()
                loss.item(), norm.item()

        return step

    def product(self, size: int) -> Step:
        """PyTorch's matrix product."""
        a, b = torch.randn(size, size), torch.randn(size, size)

        def multiply() -> None:
            torch.matmul(a, b)

        return multiply


def _tensors(batch: Batch, *, language_model: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    # Only up to the longest row: elman's buckets are padded a little further, which PyTorch need not be.
    longest = int(batch.lengths.max())
    tokens = torch.from_numpy(batch.token_ids[:, :longest].astype(np.int64))
    targets = batch.targets.reshape(-1) if language_model else batch.labels
    return tokens, torch.from_numpy(batch.lengths.astype(np.int64)), torch.from_numpy(targets.astype(np.int64))


class _Classifier(nn.Module):
    def __init__(self, workload: Workload, way: str) -> None:
        super().__init__()
        self.way, self.bidirectional = way, workload.bidirectional
        self.embedding = nn.Embedding(workload.vocab_size, workload.embedding_dim)
        sizes = (workload.embedding_dim, workload.units)
        together = workload.bidirectional and way == "packed"
        self.recurrent = _CELLS[workload.cell](*sizes, batch_first=True, bidirectional=together)
        if workload.bidirectional and way == "gathered":
            self.backward_recurrent = _CELLS[workload.cell](*sizes, batch_first=True)
        self.head = nn.Linear(workload.units * (2 if workload.bidirectional else 1), workload.num_classes)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Logits (B, C)."""
        if self.way == "packed":
            packed = nn.utils.rnn.pack_padded_sequence(
                self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
            )
            _, state = self.recurrent(packed)
            hidden = state[0] if isinstance(state, tuple) else state  # (directions, B, U)
            return self.head(torch.cat(list(hidden), dim=-1))
        rows = torch.arange(len(tokens))
        if not self.bidirectional:
            return self.head(self.recurrent(self.embedding(tokens))[0][rows, lengths - 1])
        turned = (lengths[:, None] - 1 - torch.arange(tokens.shape[1])).clamp(min=0)  # (B, T)
        # One look-up for both orders, since the gradient of each is as large as the whole embedding.
        forwards, backwards = self.embedding(torch.cat([tokens, tokens.gather(1, turned)])).chunk(2)
        outputs = [self.recurrent(forwards)[0], self.backward_recurrent(backwards)[0]]
        return self.head(torch.cat([output[rows, lengths - 1] for output in outputs], dim=-1))


class _LanguageModel(nn.Module):
    def __init__(self, workload: Workload) -> None:
        super().__init__()
        self.embedding = nn.Embedding(workload.vocab_size, workload.embedding_dim)
        self.dropout = nn.Dropout(workload.dropout)
        self.recurrent = _CELLS[workload.cell](
            workload.embedding_dim,
            workload.units,
            workload.num_layers,
            batch_first=True,
            dropout=workload.dropout,
        )
        self.head = nn.Linear(workload.units, workload.vocab_size)
        self.state: object = None

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Logits (B T, V); the state goes on into the next call."""
        outputs, state = self.recurrent(self.dropout(self.embedding(tokens)), self.state)
        self.state = tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()
        return self.head(self.dropout(outputs).flatten(0, 1))


if __name__ == "__main__":
    serve(PyTorch(sys.argv[1]))
