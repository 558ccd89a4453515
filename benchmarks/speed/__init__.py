"""Training steps and inference of elman, PyTorch and stock Keras, timed in turns: `make bench`."""
