"""Tables, figures and the comparison of a task."""
