"""Who may do what: tokens, signed tokens, the guard, limits and shares."""
