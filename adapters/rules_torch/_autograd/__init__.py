"""The autograd.Functions, and the short ways to them."""
