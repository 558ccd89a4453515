"""When to retrain, and whether to promote."""
