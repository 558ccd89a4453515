"""The encoder and its two heads."""
