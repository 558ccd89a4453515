"""One reader for each format, from files to raw rows."""
