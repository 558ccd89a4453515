"""One training loop for both tasks."""
