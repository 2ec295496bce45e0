"""Short ways to write an frule and an rrule together."""
