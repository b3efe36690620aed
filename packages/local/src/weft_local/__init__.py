"""The text models of Weft's local converter, in `models/`. Weft finds them by its place."""
