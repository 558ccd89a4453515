"""The figures of docs/concepts, computed with elman's own layers and measures: a module a page, `values` and `draw`."""
