"""Recording in MLflow: the only importer of `mlflow`. DVC decides what runs; this package writes down what ran."""
