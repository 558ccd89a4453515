"""Settings of all tests."""

from hypothesis import settings

# A deadline fails a slow machine, not a slow test; derandomized, the same commit gives the same result.
settings.register_profile("elman", deadline=None, derandomize=True)
settings.load_profile("elman")
