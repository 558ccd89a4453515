"""Text that is read as it comes, by a model whose state is carried."""
