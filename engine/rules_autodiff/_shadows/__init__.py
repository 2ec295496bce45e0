"""Storage of derivatives: by owner of memory, by number, by container."""
