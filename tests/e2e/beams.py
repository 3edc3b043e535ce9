"""Writes tests/e2e/beams.txt: texts and scores of transformers' beam search. python3 tests/e2e/beams.py > tests/e2e/beams.txt"""
import itertools
import random

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

random.seed(3)


def case(name, model, ids, settings, new, **more):
    beams, penalty, early = settings
    with torch.no_grad():
        out = model.generate(torch.tensor([ids]), num_beams=beams, length_penalty=penalty, early_stopping=early, do_sample=False,
                             max_new_tokens=new, return_dict_in_generate=True, output_scores=True, **more)
    start = 1 if model.config.is_encoder_decoder else len(ids)
    text = out.sequences[0][start:].tolist()
    ends = model.generation_config.eos_token_id
    while text and text[-1] in (ends, model.generation_config.pad_token_id):
        text.pop()
    print(name, ",".join(map(str, ids)), beams, penalty, str(early).lower(), new, ",".join(map(str, text)) or "-",
          f"{out.sequences_scores[0].item():.5f}")


def settings():
    return random.choice(list(itertools.product((2, 3, 4, 7), (1.0, 0.0, 0.6, 2.0, -1.0), (False, True, "never"))))


torch.set_num_threads(1)
model = AutoModelForSeq2SeqLM.from_pretrained("examples/numbers", dtype=torch.float32)
tokens = Tokenizer.from_file("examples/numbers/tokenizer.json")
for text in ["einhundertacht", "zweiund", "neunhundertneunzigtausend", "xyz", "dreizehnhundertelfeins", "null", "acht acht", "hundert",
             "tausendtausend", "siebzigsieben", "und", "vierzehntausendundzwei"]:
    for _ in range(2):
        case("numbers", model, tokens.encode(text).ids, settings(), random.choice((6, 20, 40)))
for text in ["einhundertacht", "neunhundertneunzigtausend", "xyz", "acht acht", "hundert", "tausendtausend", "siebzigsieben"]:
    for new in (4, 9, 30):  # beams.sh writes these settings into generation_config.json
        case("banned", model, tokens.encode(text).ids, settings(), new, no_repeat_ngram_size=2, forced_eos_token_id=2)
model = AutoModelForCausalLM.from_pretrained("examples/austen", dtype=torch.float32)
tokens = Tokenizer.from_file("examples/austen/tokenizer.json")
for text in ["It was", "Mr. Darcy", "She", "The evening was", "I do not", "“My dear", "Chapter", "They were", "Elizabeth could", "No"]:
    case("austen", model, tokens.encode(text).ids, settings(), random.choice((5, 12, 24)))
