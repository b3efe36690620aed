"""Writes trained weights as an ONNX file whose numbers take two bytes; the runtime widens them when it loads it.

python export.py parts.pt parts.onnx
python export.py reader.pt scripts.onnx
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from network import PartNetwork
from onnx import TensorProto, helper, numpy_helper
from reader_letters import LETTERS
from reader_network import ReaderNetwork
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

INPUT, OUTPUT = "page", "parts"


def fuse(network: nn.Module) -> nn.Module:
    """Merge each batch norm into the convolution before it."""
    for module in network.modules():
        children = dict(module.named_children())
        for name in ("convolve", "second"):
            if name in children and "norm" in children:
                setattr(module, name, fuse_conv_bn_eval(children[name], children["norm"]))  # pyright: ignore[reportArgumentType]
                module.norm = torch.nn.Identity()
    return network


def halve(model: onnx.ModelProto) -> onnx.ModelProto:
    """Store weights in two bytes, each with a cast to four."""
    casts: list[onnx.NodeProto] = []
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT or np.prod(tensor.dims) < 64:
            continue
        name = tensor.name
        small = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{name}_half")
        tensor.CopyFrom(small)
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    return model


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    reads = source.stem == "reader"
    network = ReaderNetwork() if reads else PartNetwork()
    network.load_state_dict(torch.load(source, map_location="cpu"))
    fused = fuse(network.eval())
    page = torch.rand(1, 1, 48, 192) if reads else torch.rand(1, 3, 128, 192) * 255
    free = {0: "count", 3: "wide"} if reads else {0: "count", 2: "high", 3: "wide"}
    answer = {0: "count", 1: "places"} if reads else free
    torch.onnx.export(
        fused, (page,), str(target), input_names=[INPUT], output_names=[OUTPUT],
        dynamic_axes={INPUT: free, OUTPUT: answer}, opset_version=17, dynamo=False,
    )  # fmt: skip
    model = onnx.load(str(target))
    if reads:
        helper.set_model_props(model, {"character": "\n".join(LETTERS[1:])})
    onnx.save(halve(model), str(target))
    onnx.checker.check_model(str(target))
    data = target.read_bytes()
    print(f"{len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
