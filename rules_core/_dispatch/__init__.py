"""From a call to the rule that fits: keys, tables, signatures, packs and configs."""
