"""Look-up and call of rules: `frule`, `rrule`, `explain` and debug mode."""
