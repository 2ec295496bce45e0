"""Dispatch of a call to its rule: keys, tables, signatures, packs and configs."""
