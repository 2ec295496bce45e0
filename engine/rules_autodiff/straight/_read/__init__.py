"""From a syntax tree to blocks; one file per part of the language."""
