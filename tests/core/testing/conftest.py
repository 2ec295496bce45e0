"""Property tests take as long as they take: the machines of a CI differ."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
