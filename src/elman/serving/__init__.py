"""Trained models over HTTP: one process, one thread that computes, and a limit on all that a client can ask for."""
