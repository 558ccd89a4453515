"""Tuning of one cell's settings on validation, with Optuna; the only package that knows it."""
