"""Text that a language model goes on with."""
