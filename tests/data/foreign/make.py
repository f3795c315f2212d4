# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this folder with other people's tools: python3 make.py OUT (needs torch, safetensors, huggingface_hub).

one.safetensors      safetensors.torch.save_file: ranks 0 to 4, F64 F32 F16 BF16, and types that are no floats here
sharded/             huggingface_hub.save_torch_state_dict: two shards and their index file
numpy_*.npy          numpy.save: Fortran order, float16, big endian float64
The values are those of value(i) below, so that the test can know them.
"""
import os
import sys

import numpy
import safetensors.torch
import torch
from huggingface_hub import save_torch_state_dict

out = sys.argv[1]
os.makedirs(out + "/sharded", exist_ok=True)


def value(count):
    """i / 8 with alternating sign, for i = 0, 1, 2, ...: exact in every float type for count <= 2048."""
    i = torch.arange(count, dtype=torch.float64)
    return torch.where(i % 2 == 0, i, -i) / 8


tensors = {
    "embed.weight": value(48 * 32).reshape(48, 32).to(torch.bfloat16),
    "conv.weight": value(4 * 3 * 2 * 16).reshape(4, 3, 2, 16).to(torch.float16),
    "norm.weight": value(24).to(torch.float32),
    "scale": value(2)[1].to(torch.float64),
    "position_ids": torch.arange(7),
    "mask": torch.tensor([True, False]),
    "codes": value(16).to(torch.float8_e4m3fn),
    "empty": torch.zeros(0, 5),
}
safetensors.torch.save_file(tensors, out + "/one.safetensors", metadata={"format": "pt", "note": "\u00fcmlaut \"quoted\""})
layers = {f"layers.{i}.weight": value(32 * 32).reshape(32, 32).to(torch.bfloat16) * 2.0**i for i in range(3)}
save_torch_state_dict(layers, out + "/sharded", max_shard_size=4200)
numpy.save(out + "/numpy_fortran.npy", numpy.asfortranarray(value(60).numpy().astype(numpy.float32).reshape(3, 4, 5)))
numpy.save(out + "/numpy_half.npy", value(24).numpy().astype(numpy.float16).reshape(2, 12))
numpy.save(out + "/numpy_big_endian.npy", value(12).numpy().astype(">f8"))
print("safetensors", safetensors.__version__, "torch", torch.__version__, "numpy", numpy.__version__)
