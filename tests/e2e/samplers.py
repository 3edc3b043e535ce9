"""Writes tests/e2e/samplers.txt: what the sampler's steps leave, by transformers' logits processors where there are such, else by
llama.cpp's formulas spelled out in double precision.

    python tests/e2e/samplers.py > tests/e2e/samplers.txt

A line a case: settings by their fields' names, the tokens so far, logits, the logits behind bias, penalties and DRY, and the tokens
that remain with their probabilities; of mirostat mu behind each of them, too. Cases whose outcome hangs on a rounding are left out."""
import math
import random

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import (MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, SequenceBiasLogitsProcessor, TemperatureLogitsWarper,
                          TopKLogitsWarper, TopPLogitsWarper, TypicalLogitsWarper)

N = 64
TEXT = [Tokenizer.from_file("examples/austen/tokenizer.json").decode([i]) for i in range(N)]
MARGIN = 1e-5


class Doubtful(Exception):
    pass


def sure(a, b):
    if abs(a - b) < MARGIN * max(1, abs(a)):
        raise Doubtful
    return a > b


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


# ---- over logits ----

def theirs(processor, tokens, logits):
    return processor(torch.tensor([tokens], dtype=torch.long), torch.tensor(logits)[None])[0].numpy()


def penalize(s, tokens, x):
    last = tokens[-s["repeat_last_n"]:] if s["repeat_last_n"] >= 0 else tokens
    if not s["repeat_last_n"] or not last:
        return x
    x = theirs(RepetitionPenaltyLogitsProcessor(float(s["repeat_penalty"])), last, x)
    for t in set(last):
        x[t] -= last.count(t) * s["frequency_penalty"] + s["presence_penalty"]
    return x


def dry(s, tokens, x):
    """llama.cpp: a token that would go on with a repetition of n tokens loses multiplier * base^(n - allowed)."""
    last = tokens[-s["dry_penalty_last_n"]:] if s["dry_penalty_last_n"] >= 0 else tokens
    breakers = s["dry_breakers"]
    fresh = len(last)  # of the end no token of which has part of a breaker
    for n in range(len(last)):
        if any(b in "".join(TEXT[t] for t in last[len(last) - n - 1:]) for b in breakers):
            fresh = n
            break
    out = x.copy()
    for token in set(last):
        if any(b in TEXT[token] for b in breakers):
            continue
        longest = 0
        for at in range(1, len(last)):
            n = 0
            while last[at] == token and n < min(at, fresh) and last[at - 1 - n] == last[len(last) - 1 - n]:
                n += 1
            longest = max(longest, n)
        if longest >= s["dry_allowed_length"]:
            out[token] -= s["dry_multiplier"] * s["dry_base"] ** (longest - s["dry_allowed_length"])
    return out


def adjust(s, tokens, x):
    if s["bias"]:
        x = theirs(SequenceBiasLogitsProcessor([[[t], float(b)] for t, b in s["bias"]]), tokens or [0], x)
    if (s["repeat_penalty"], s["presence_penalty"], s["frequency_penalty"]) != (1, 0, 0):
        x = penalize(s, tokens, x)
    if s["dry_multiplier"] > 0 and s["dry_penalty_last_n"]:
        x = dry(s, tokens, x)
    return x


# ---- candidates: logits, those that are gone are minus infinity ----

def warped(make, value, x, doubt):
    """The same with a little more and a little less: else it hangs on a rounding."""
    one, less, more = (theirs(make(v), [0], x) for v in (value, value * (1 - doubt), min(value * (1 + doubt), 1 - 1e-12)))
    if not np.array_equal(np.isinf(less), np.isinf(more)):
        raise Doubtful
    return one


def xtc(s, x):
    p = softmax(x)
    reach = [i for i in np.argsort(-p, kind="stable") if p[i] > 0 and sure(p[i], s["xtc_threshold"])]
    out = x.copy()
    out[reach[:-1]] = -np.inf
    return out


def entropy(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum()


def temperature(s, x):
    t = s["temperature"]
    left = np.isfinite(x).sum()
    if s["dynatemp_range"] > 0 and left > 1:
        low, high = max(0, t - s["dynatemp_range"]), t + s["dynatemp_range"]
        t = low + (high - low) * (entropy(softmax(x)) / math.log(left)) ** s["dynatemp_exponent"]
    return theirs(TemperatureLogitsWarper(float(t)), [0], x)


def mirostat(s, x):
    surprise = -np.log2(softmax(x))
    out = np.array([v if not sure(b, s["mu"]) else -np.inf for v, b in zip(x, surprise)])
    if np.isinf(out).all():
        out[x.argmax()] = x.max()
    with np.errstate(divide="ignore"):
        left = -np.log2(softmax(out))
    return out, s["mu"] - s["mirostat_eta"] * (left - s["mirostat_tau"])


def choose(s, x):
    x = x.astype(np.float64)
    if s["mirostat"]:
        return mirostat(s, temperature(s, x))
    if s["top_k"] > 0:
        x = theirs(TopKLogitsWarper(s["top_k"]), [0], x)
    if s["typical"] < 1:
        x = warped(lambda v: TypicalLogitsWarper(v), s["typical"], x, MARGIN)
    if s["top_p"] < 1:
        x = warped(lambda v: TopPLogitsWarper(v), s["top_p"], x, MARGIN)
    if s["min_p"] > 0:
        x = warped(lambda v: MinPLogitsWarper(v), s["min_p"], x, MARGIN)
    if s["xtc_probability"] > 0:
        x = xtc(s, x)
    return temperature(s, x), None


# ---- cases ----

ONE = {
    "top_k": lambda: random.choice([1, 2, 5, 20, 63]), "top_p": lambda: random.choice([0.1, 0.5, 0.8, 0.95, 0.999]),
    "min_p": lambda: random.choice([0.01, 0.05, 0.2, 0.7]), "typical": lambda: random.choice([0.1, 0.3, 0.6, 0.9, 0.99]),
    "xtc_threshold": lambda: random.choice([0.02, 0.05, 0.1, 0.3]), "temperature": lambda: random.choice([0.1, 0.5, 0.8, 1.3, 4]),
    "dynatemp_range": lambda: random.choice([0.2, 0.5, 2]), "repeat_penalty": lambda: random.choice([1.05, 1.3, 2, 0.8]),
    "presence_penalty": lambda: random.choice([0.3, 1, -0.5]), "frequency_penalty": lambda: random.choice([0.1, 0.5, -0.2]),
    "dry_multiplier": lambda: random.choice([0.3, 0.8, 2]), "bias": lambda: [(random.randrange(1, N), round(random.uniform(-5, 5), 2))],
    "mirostat": lambda: 2,
}


NEUTRAL = dict(temperature=1, top_p=1, min_p=0, typical=1, repeat_penalty=1, presence_penalty=0, frequency_penalty=0, dynatemp_range=0,
               dynatemp_exponent=1, xtc_probability=0, xtc_threshold=0.1, dry_multiplier=0, dry_base=1.75, mirostat_tau=5, mirostat_eta=0.1,
               top_k=0, mirostat=0, repeat_last_n=64, dry_allowed_length=2, dry_penalty_last_n=-1)


def settings(names):
    s = NEUTRAL | dict(bias=[], dry_breakers=[])
    if "dynatemp_range" in names:
        s["dynatemp_exponent"] = random.choice([1, 0.5, 2])
    if "mirostat" in names:
        s["mirostat_tau"], s["mirostat_eta"] = random.choice([1, 3, 5]), random.choice([0.1, 0.5])
    if "dry_multiplier" in names:
        s["dry_base"], s["dry_allowed_length"] = random.choice([1.75, 1.2, 3]), random.choice([1, 2, 3])
        s["dry_penalty_last_n"], s["dry_breakers"] = random.choice([-1, 40, 12]), random.choice([[], [","], ["\"", "12"], ["Z"]])
    if any(name.endswith("penalty") for name in names):
        s["repeat_last_n"] = random.choice([64, -1, 8, 3])
    for name in names:
        s[name] = ONE[name]()
        if name == "xtc_threshold":
            s["xtc_probability"] = 1
    if "bias" in names:
        s["bias"] = [(t, round(random.uniform(-5, 5), 2)) for t in random.sample(range(1, N), 3)]
    s["mu"] = 2 * s["mirostat_tau"]
    return s


def history():
    some = random.sample(range(2, N), random.choice([3, 6, 20]))
    tokens = [random.choice(some) for _ in range(random.choice([1, 10, 30]))]
    for _ in range(random.randrange(3)):  # something again
        at = random.randrange(len(tokens))
        tokens += tokens[at:at + random.randrange(1, 9)]
    return tokens


def number(x):
    return f"{x:.6g}"


def write(names):
    while True:
        s, tokens = settings(names), history()
        x = np.array([float(f"{random.gauss(0, random.choice([1, 3])):.3f}") for _ in range(N)], dtype=np.float32)
        try:
            adjusted = adjust(s, tokens, x)
            left, mu = choose(s, adjusted)
            break
        except Doubtful:
            pass
    p = softmax(left)
    plain = [f"{k}={number(v)}" for k, v in s.items() if k not in ("bias", "dry_breakers", "mu") and v != NEUTRAL.get(k)]
    plain += [f"bias={t}:{b}" for t, b in s["bias"]] + [f"breaker={b}" for b in s["dry_breakers"]]
    print(" ".join(plain), "|", *tokens, "|", *map(number, x), "|", *(f"{i}:{number(v)}" for i, (v, b) in enumerate(zip(adjusted, x)) if v != b),
          "|", *(f"{i}:{number(v)}" + (f":{number(mu[i])}" if mu is not None else "") for i, v in enumerate(p) if v > 0))


random.seed(5)
torch.set_num_threads(1)
filters = ["top_k", "top_p", "min_p", "typical", "xtc_threshold", "temperature", "dynatemp_range"]
logits = ["repeat_penalty", "presence_penalty", "frequency_penalty", "dry_multiplier", "bias"]
for name in ONE:
    for _ in range(5):
        write([name])
for _ in range(40):
    write(random.sample(filters, random.randrange(2, 6)) + random.sample(logits, random.randrange(4)))
for _ in range(8):
    write(["mirostat"] + random.sample(logits + ["temperature"], random.randrange(3)))
