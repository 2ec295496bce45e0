"""The command `rules-core`: look at, check and time rules without a program."""
