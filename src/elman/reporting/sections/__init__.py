"""The parts of a report's page: one module each, from what was read to HTML."""
