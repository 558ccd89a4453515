"""Models without a neural network, to compare with."""
