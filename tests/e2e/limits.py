"""Writes tests/e2e/limits.txt: tokens of transformers' greedy search under the limits of a generation_config.json, which stand
in lines of their own. python3 tests/e2e/limits.py > tests/e2e/limits.txt"""
import json

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

torch.set_num_threads(1)


def cases(name, folder, kind, settings, texts, lengths):
    print("model", name, folder, json.dumps(settings)[1:-1])
    model = kind.from_pretrained(folder, dtype=torch.float32)
    tokens = Tokenizer.from_file(folder + "/tokenizer.json")
    for text in texts:
        for new in lengths:
            ids = tokens.encode(text).ids
            with torch.no_grad():
                out = model.generate(torch.tensor([ids]), num_beams=1, do_sample=False, max_new_tokens=new, **settings)[0].tolist()
            out = out[1 if model.config.is_encoder_decoder else len(ids):]
            while out and out[-1] in (model.generation_config.eos_token_id, model.generation_config.pad_token_id):
                out.pop()
            print("case", name, ",".join(map(str, ids)), new, ",".join(map(str, out)) or "-")


numbers = ["einhundertacht", "neunhundertneunzigtausend", "acht acht", "hundert", "siebzigsieben"]
prose = ["It was", "Mr. Darcy", "The evening was", "They were"]
cases("penalty", "examples/numbers", AutoModelForSeq2SeqLM,
      {"repetition_penalty": 1.7, "encoder_no_repeat_ngram_size": 2, "min_length": 9, "forced_eos_token_id": 2}, numbers, (5, 30))
cases("words", "examples/numbers", AutoModelForSeq2SeqLM,
      {"bad_words_ids": [[17], [10, 16], [2], [21, 20, 22]], "min_new_tokens": 12, "suppress_tokens": [25], "begin_suppress_tokens": [22, 24],
       "no_repeat_ngram_size": 3}, numbers, (30,))
cases("prose", "examples/austen", AutoModelForCausalLM,
      {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "bad_words_ids": [[270], [15, 266]], "min_new_tokens": 10,
       "begin_suppress_tokens": [262], "forced_eos_token_id": 1, "encoder_no_repeat_ngram_size": 2}, prose, (6, 24))
