"""How well a plate conducts heat, found from its temperature: an inverse problem."""
