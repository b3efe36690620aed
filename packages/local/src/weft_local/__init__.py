"""The models of Weft's local converter: the text models in `models/`, and `parts.onnx`. Weft finds them by place."""
