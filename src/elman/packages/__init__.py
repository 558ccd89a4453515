"""Model packages: one folder with all that a trained model needs, checked by hash and by stored predictions."""
