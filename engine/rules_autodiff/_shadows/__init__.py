"""Where derivatives are kept: by owner of memory, by number, by container."""
