"""How an answer lines up with its references, as one row of named numbers per answer."""
