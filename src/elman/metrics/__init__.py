"""Sums and counts first, one division at the end."""
