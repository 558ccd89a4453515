"""Which of several systems is better on the same test documents, and what says so."""
