"""How rules of this pack are declared."""
