"""What a model does inside, and which kernels run."""
