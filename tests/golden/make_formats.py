"""Writes small files with NumPy and safetensors themselves, for fovea/formats/*_test.cpp.

    python make_formats.py        # needs numpy and safetensors
"""
import json, pathlib
import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent / "formats"
here.mkdir(exist_ok=True)
grid = (np.arange(6) - 2.5).reshape(2, 3)
save_file({"grid": grid.astype("float32"), "half": grid.astype("float16"), "ids": np.array([1, -2, 3]), "scalar": np.array(7.25)},
          here / "plain.safetensors", metadata={"made_by": "numpy"})
save_file({"a": np.array([1, 2], "float32")}, here / "model-00001-of-00002.safetensors")
save_file({"b": np.array([3, 4], "float32")}, here / "model-00002-of-00002.safetensors")
(here / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 16}, "weight_map": {
    "a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}))
np.save(here / "grid.npy", grid.astype("float32"))
np.save(here / "fortran.npy", np.asfortranarray(grid))
np.save(here / "bytes.npy", np.array([0, 200, 255], "uint8"))
np.save(here / "big_endian.npy", grid.astype(">f4"))
np.savez(here / "stored.npz", grid=grid, ids=np.array([[1], [2]]))
np.savez_compressed(here / "compressed.npz", grid=grid, half=grid.astype("float16"), mask=np.array([True, False]))
