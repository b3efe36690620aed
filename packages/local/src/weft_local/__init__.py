"""The models of Weft's local converter: text models and icons in `models/`, its own here. Weft finds them by place."""
