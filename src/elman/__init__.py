"""Small recurrent text models, trained reproducibly and compared honestly."""

__version__ = "0.1.0"
