"""Studies of what a recurrent cell can keep, what its gradient reaches, and what its gates do: a file a study."""
