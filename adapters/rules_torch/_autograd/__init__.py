"""The autograd.Functions, and the shortcuts to them."""
