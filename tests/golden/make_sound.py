"""A second of sound in the formats that people have, and what Whisper hears of it, for fovea/data/audio/*_test.cpp.

    python make_sound.py          # needs soundfile, numpy, scipy, transformers, safetensors

sound/NAME.wav, .flac, .ogg, .mp3; sound.safetensors holds `samples` (16 kHz), log_mel.80 and log_mel.128 of the samples padded to 2 s
in the layout [bands, frames].
"""
import pathlib

import numpy as np
import soundfile
from safetensors.numpy import save_file
from transformers import WhisperFeatureExtractor

here = pathlib.Path(__file__).parent
folder = here / "sound"
folder.mkdir(exist_ok=True)


def tune(rate, seconds=0.5):
    """Three tones that swell and fade, and one that glides."""
    t = np.arange(int(rate * seconds)) / rate
    sound = 0.3 * np.sin(2 * np.pi * 220 * t) * np.hanning(len(t)) + 0.2 * np.sin(2 * np.pi * (300 + 1200 * t) * t)
    return sound + 0.1 * np.sin(2 * np.pi * 1760 * t) * (t > seconds / 2)


samples = tune(16000)
soundfile.write(folder / "plain.wav", samples, 16000, "PCM_16")
soundfile.write(folder / "float.wav", samples.astype(np.float32), 16000, "FLOAT")
soundfile.write(folder / "stereo.flac", np.stack([tune(44100), tune(44100)], -1), 44100)
soundfile.write(folder / "small.ogg", tune(22050), 22050)
soundfile.write(folder / "small.mp3", tune(24000), 24000, bitrate_mode="CONSTANT", compression_level=0.5)
kept, _ = soundfile.read(folder / "plain.wav", dtype="float32")

golden = {"samples": kept}
for bands in (80, 128):
    extractor = WhisperFeatureExtractor(feature_size=bands, chunk_length=2)
    golden[f"log_mel.{bands}"] = extractor(kept, sampling_rate=16000, return_tensors="np")["input_features"][0].astype(np.float32)
save_file(golden, here / "sound.safetensors")
