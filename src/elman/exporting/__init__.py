"""Trained models as files that other programs can run without elman."""
