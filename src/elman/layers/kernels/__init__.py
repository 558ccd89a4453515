"""Whole-sequence kernels for the CPU: one call for all time steps forward, one for all steps backward.

Compiled by numba at the first call and kept in its cache on disk. Numba notices a change of the file that a function
stands in, not of the files whose functions it calls: after a change in this folder, delete the `__pycache__` here.
"""
