"""Trained models that take text: loaded by name, with all that text passes through before and after them."""
