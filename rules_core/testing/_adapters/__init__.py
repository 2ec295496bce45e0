"""Checks of an adapter: what every framework promises to the authors of rules."""
