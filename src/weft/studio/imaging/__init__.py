"""Pictures made, changed and cut out: by a provider where there is a key, here otherwise, and said to be so."""
