"""Scores of trained models on a split."""
