"""Measurements that take long: run by hand, their results recorded."""
