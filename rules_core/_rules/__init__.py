"""Rules looked up and run: `frule`, `rrule`, `explain` and debug mode."""
