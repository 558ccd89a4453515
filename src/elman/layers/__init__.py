"""Recurrent layers, poolings and dropouts; one class a file."""
