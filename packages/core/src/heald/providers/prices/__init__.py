"""List prices of models, offline: a list that is made when the package is, the matching of names, the arithmetic."""
