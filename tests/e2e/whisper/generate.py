#!/usr/bin/env python3
# Makes tiny.tar.xz: a Whisper of random weights whose window is one second, two recordings, and what transformers makes of them
# (text.txt, and segments in the form of --json); english has another shape, as turbo and English-only models have, and its own long.txt.
# short.flac is short.wav. Needs torch, transformers, soundfile.
import os
import shutil
import subprocess
import wave

import numpy as np
import soundfile
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration, WhisperTokenizer
from transformers.models.whisper.tokenization_whisper import _decode_asr

OUT = "tiny"
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)] + ["Ġ"]
SPECIAL = ["endoftext", "startoftranscript", "en", "de", "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
ID = {name: len(LETTERS) + i for i, name in enumerate(SPECIAL)}
TIMES = len(LETTERS) + len(SPECIAL)
VOCABULARY = TIMES + 51


def make_tokenizer():
    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(LETTERS)}, merges=[]))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(f"<|{name}|>", special=True) for name in SPECIAL])
    t.add_tokens([AddedToken(f"<|{i * 0.02:.2f}|>") for i in range(51)])
    t.save(f"{OUT}/tokenizer.json")


def make_model(seed, mels=8, layers=1, heads=2, wide=32, english=False):
    torch.manual_seed(seed)
    config = WhisperConfig(vocab_size=VOCABULARY, num_mel_bins=mels, d_model=16, encoder_layers=layers, decoder_layers=1, encoder_attention_heads=2,
                           decoder_attention_heads=heads, encoder_ffn_dim=32, decoder_ffn_dim=wide, max_source_positions=50, max_target_positions=40,
                           pad_token_id=ID["endoftext"], bos_token_id=ID["endoftext"], eos_token_id=ID["endoftext"],
                           decoder_start_token_id=ID["startoftranscript"], suppress_tokens=None, begin_suppress_tokens=None, init_std=0.5)
    model = WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_((p if "encoder.embed_positions" in name or p.dim() == 1 else torch.randn_like(p) * 0.6).half().float())
    g = model.generation_config
    g.is_multilingual = not english
    if not english:
        g.lang_to_id = {"<|en|>": ID["en"], "<|de|>": ID["de"]}
        g.task_to_id = {"transcribe": ID["transcribe"], "translate": ID["translate"]}
    g.no_timestamps_token_id, g.prev_sot_token_id, g.max_initial_timestamp_index = ID["notimestamps"], ID["startofprev"], 20
    g.suppress_tokens, g.begin_suppress_tokens, g.max_length = [3, ID["startoftranscript"], ID["nospeech"]], [26, ID["endoftext"]], 40
    g.return_timestamps, g.alignment_heads = False, [[0, 1], [0, 0]]
    return model


def make_recordings():
    rng = np.random.default_rng(7)
    t = np.arange(int(2.6 * 16000)) / 16000
    x = sum(0.25 * np.sin(2 * np.pi * (f * t + 300 * np.sin(3 * t + f))) for f in rng.uniform(200, 3000, 3)) * (np.sin(9 * t) > -0.5)
    for name, n in (("long", len(t)), ("short", 12345)):
        with wave.open(f"{OUT}/{name}.wav", "wb") as w:
            w.setparams((1, 1, 16000, n, "NONE", ""))
            w.writeframes(np.round(x[:n] * 127 + 128).astype(np.uint8).tobytes())


def samples(name):
    with wave.open(f"{OUT}/{name}.wav") as w:
        return (np.frombuffer(w.readframes(w.getnframes()), np.uint8).astype(np.float32) - 128) / 128


def generate(model, extractor, name, **how):
    window = len(samples(name)) <= 16000
    given = extractor(samples(name), sampling_rate=16000, return_tensors="pt", return_attention_mask=True,
                      **({} if window else {"truncation": False, "padding": "longest"}))
    return model.generate(given.input_features, attention_mask=given.attention_mask, **how)


def text_of(model, extractor, name, **how):
    ids = generate(model, extractor, name, **how)[0].tolist()
    return "".join(" " if i == 26 else LETTERS[i] for i in ids if i < len(LETTERS)).strip()


# As --json has them: an unfinished segment's first timestamp is not part of the segment before it.
def segments_of(model, extractor, name, **how):
    lines = []
    for s in generate(model, extractor, name, return_timestamps=True, return_segments=True, **how)["segments"][0]:
        tokens = s["tokens"].tolist()
        if len(tokens) > 1 and min(tokens[-2:]) >= TIMES:
            tokens.pop()
        lines.append(f'"start": {float(s["start"]):.2f}, "end": {float(s["end"]):.2f}, "tokens": {tokens}')
    return lines


# Rows of --csv --word-timestamps.
def words_of(model, extractor, name, **how):
    out = generate(model, extractor, name, return_timestamps=True, return_segments=True, return_token_timestamps=True, **how)
    times = torch.cat([s["token_timestamps"] for s in out["segments"][0]])
    found = _decode_asr(WhisperTokenizer.from_pretrained(OUT), [{"tokens": out["sequences"], "token_timestamps": [times]}],
                        return_timestamps="word", return_language=False, time_precision=0.02)[1]["chunks"]
    # A special token that this tokenizer does not know as one is written "<|0.12|>".
    found = [w for w in found if "<|" not in w["text"]]
    return ["start,end,text"] + [f'{max(w["timestamp"][0], 0):.2f},{w["timestamp"][1]:.2f},"{w["text"].strip()}"' for w in found]


def make_english(expected):
    model, extractor = make_model(3, mels=128, layers=3, heads=4, wide=64, english=True), WhisperFeatureExtractor(feature_size=128, chunk_length=1)
    expected["english/long"] = segments_of(model, extractor, "long")
    expected["english/beams"] = segments_of(model, extractor, "long", num_beams=2, temperature=0.0)
    model.half().save_pretrained(f"{OUT}/english")
    extractor.save_pretrained(f"{OUT}/english")
    shutil.copy(f"{OUT}/tokenizer.json", f"{OUT}/english")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    make_recordings()
    extractor = WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    extractor.save_pretrained(OUT)
    model = make_model(0)
    expected = {"text": [text_of(model, extractor, "short", task="transcribe")],
                "translated": segments_of(model, extractor, "short", language="de", task="translate"),
                "long": segments_of(model, extractor, "long", language="en")}
    make_tokenizer()
    expected["words"] = words_of(model, extractor, "short", language="de", task="translate")
    expected["beams"] = segments_of(model, extractor, "long", language="en", num_beams=3, temperature=0.0)
    expected["beam_words"] = words_of(model, extractor, "long", language="de", num_beams=4, temperature=0.0)
    model.half().save_pretrained(OUT)
    make_english(expected)
    samples, rate = soundfile.read(f"{OUT}/short.wav", dtype="int16")
    soundfile.write("short.flac", samples, rate)
    for name, lines in expected.items():
        with open(f"{OUT}/{name}.txt", "w") as f:
            f.write("".join(line + "\n" for line in lines))
    subprocess.run(["tar", "--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0", "-cJf", "tiny.tar.xz", OUT], check=True)


main()
