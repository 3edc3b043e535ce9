"""Makes gguf_texts.tar.xz: GGUF files that rank texts or make embeddings of them, each with a vocabulary, and what llama.cpp
computes, its prompts formed as its server forms them.

    python tests/e2e/gguf_texts.py        needs gguf, llama_cpp

NAME.gguf; NAME.scores: a line for each pair of pairs.txt; NAME.embeddings: the same for each line of lines.txt.
"""
import ctypes
import io
import pathlib
import sys
import tarfile
import tempfile

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "families"))
import gguf_cases as cases

LINES = ["the cat sleeps on the mat", "where does anna live?", "anna lives in the house", "Ein <think> oder zwei", "a"]
PAIRS = [("where does anna live?", line) for line in LINES] + [("the {document} of a {query}", "the cat"), ("cat", "the mat " * 9)]
WORDS = "the cat mat anna live lives house where does sleep on in Query Document Judge whether".split()
PROMPT = ("<|im_start|>system\nJudge whether the Document meets the Query.<|im_end|>\n<|im_start|>user\n<Query>: {query}\n"
          "<Document>: {document}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")


def byte_level(writer):
    """Bytes, merges of a few words, control tokens."""
    visible = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b]
    of = {b: chr(b) for b in visible} | {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in visible)}
    tokens, merges = [of[b] for b in range(256)], []
    for word in WORDS:
        for text in (word, "\u0120" + word):
            left = text[0]
            for c in text[1:]:
                if f"{left} {c}" not in merges:
                    merges.append(f"{left} {c}")
                    tokens.append(left + c)
                left += c
    controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
    types = [1] * len(tokens) + [3, 3, 3, 4, 4]
    ends = len(tokens)
    write_tokens(writer, "gpt2", tokens + controls, types)
    writer.add_string("tokenizer.ggml.pre", "qwen2")
    writer.add_array("tokenizer.ggml.merges", merges)
    writer.add_uint32("tokenizer.ggml.eos_token_id", ends + 2)
    writer.add_uint32("tokenizer.ggml.bos_token_id", ends)
    writer.add_bool("tokenizer.ggml.add_bos_token", False)


def write_tokens(writer, model, tokens, types, scores=None):
    fill = cases.WORDS - len(tokens)
    writer.add_string("tokenizer.ggml.model", model)
    writer.add_array("tokenizer.ggml.tokens", tokens + [f"[unused{i}]" for i in range(fill)])
    writer.add_array("tokenizer.ggml.token_type", types + [5] * fill)
    if scores:
        writer.add_array("tokenizer.ggml.scores", [float(s) for s in scores] + [0.0] * fill)


def pieces():
    """Starts of words, letters; longer pieces have higher scores."""
    texts = sorted({("\u2581" + word)[:n] for word in WORDS for n in range(1, len(word) + 2)} | set("abcdefghijklmnopqrstuvwxyzEQJD?{}<>"))
    return texts, [len(t) - 20 for t in texts]


def sentence_pieces(writer):
    texts, scores = pieces()
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + texts
    write_tokens(writer, "llama", tokens, [2, 3, 3] + [6] * 256 + [1] * len(texts), [0] * 259 + scores)
    for name, token in ("bos", 1), ("eos", 2), ("unknown", 0):
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
    writer.add_bool("tokenizer.ggml.add_bos_token", True)
    writer.add_bool("tokenizer.ggml.add_eos_token", True)


def unigrams(writer):
    """XLM-RoBERTa's."""
    texts, scores = pieces()
    write_tokens(writer, "t5", ["<s>", "<pad>", "</s>", "<unk>"] + texts, [3, 3, 3, 2] + [1] * len(texts), [0] * 4 + scores)
    for name, token in ("bos", 0), ("eos", 2), ("unknown", 3), ("seperator", 2), ("padding", 1):
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
    for name in "add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix":
        writer.add_bool("tokenizer.ggml." + name, True)


def reranker():
    """Qwen3's: the rows of yes and no."""
    case = embedder("qwen3", byte_level, 4).add(**cases.NORMS_OF_HEADS)
    case.shapes["cls.output.weight"] = (2, cases.WIDTH)
    case.metadata["classifier.output_labels"] = ["yes", "no"]
    spell = case.vocabulary
    case.vocabulary = lambda writer: (spell(writer), writer.add_chat_template([{"name": "rerank", "template": PROMPT}]))
    case.labels = 2
    return case


def embedder(architecture, vocabulary, pooling, output=False, **metadata):
    case = cases.Case(architecture, output=output, pooling_type=pooling, **cases.HEADED, **metadata).llama()
    case.metadata["context_length"] = 192
    case.vocabulary, case.grain = vocabulary, 1 / 256
    return case


def cross_encoder():
    case = cases.with_head(1)
    case.metadata |= {"pooling_type": 4, "context_length": 64}
    case.vocabulary, case.grain = unigrams, 1 / 256
    return case


def gemma():
    case = embedder("gemma-embedding", sentence_pieces, 1, layers=6, attention__sliding_window=6)
    case.add(post_attention_norm=(cases.WIDTH,), post_ffw_norm=(cases.WIDTH,), **cases.NORMS_OF_HEADS)
    case.shapes |= {"dense_2.weight": (2 * cases.WIDTH, cases.WIDTH), "dense_3.weight": (cases.WIDTH, 2 * cases.WIDTH)}
    case.metadata |= {"dense_2_feat_in": cases.WIDTH, "dense_2_feat_out": 2 * cases.WIDTH, "dense_3_feat_in": 2 * cases.WIDTH,
                      "dense_3_feat_out": cases.WIDTH}
    case.faint, case.faintness = ("post_ffw_norm",), 0.01
    return case


MODELS = {"qwen3-reranker": (reranker, 430), "bge-reranker": (cross_encoder, 430),
          "qwen3-embedding": (lambda: embedder("qwen3", byte_level, 3).add(**cases.NORMS_OF_HEADS), 430),
          "e5-mistral": (lambda: embedder("llama", sentence_pieces, 3, output=True, rope__dimension_count=cases.HEAD), 430),
          "gte-qwen2": (lambda: embedder("qwen2", byte_level, 3, attention__causal=False).add(**cases.BIASES), 430),
          "embeddinggemma": (gemma, 430)}


class Oracle:
    def __init__(self, path, n):
        import llama_cpp
        self.library, self.n = llama_cpp, n
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        self.words = llama_cpp.llama_model_get_vocab(self.model)
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = 512
        options.type_k = options.type_v = options.flash_attn_type = 0
        options.n_threads = options.n_threads_batch = 1
        options.embeddings = True
        self.context = llama_cpp.llama_init_from_model(self.model, options)

    def ids(self, text, special, parse):
        room = (ctypes.c_int32 * 512)()
        text = text.encode()
        n = self.library.llama_tokenize(self.words, text, len(text), room, 512, special, parse)
        assert n >= 0
        return list(room[:n])

    def pair(self, query, document):
        library, words = self.library, self.words
        prompt = library.llama_model_chat_template(self.model, b"rerank")
        if prompt:
            parts = prompt.decode().split("{query}")                            # a text with braces in it stays as it is
            return self.ids(query.join(p.replace("{document}", document) for p in parts), False, True)
        end = library.llama_vocab_eos(words)
        ids = [library.llama_vocab_bos(words)] if library.llama_vocab_get_add_bos(words) else []
        ids += self.ids(query, False, False)
        ids += [end] if library.llama_vocab_get_add_eos(words) else []
        ids += [library.llama_vocab_sep(words)] if library.llama_vocab_get_add_sep(words) else []
        return ids + self.ids(document, False, False) + ([end] if library.llama_vocab_get_add_eos(words) else [])

    def embedding(self, ids):
        library = self.library
        if memory := library.llama_get_memory(self.context):
            library.llama_memory_clear(memory, True)
        batch = library.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
            batch.seq_id[i][0] = 0
        assert library.llama_decode(self.context, batch) == 0
        return np.ctypeslib.as_array(library.llama_get_embeddings_seq(self.context, 0), (self.n,)).copy()


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "lines.txt").write_text("".join(f"{line}\n" for line in LINES))
        (folder / "pairs.txt").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
        for name, (make, words) in MODELS.items():
            cases.WORDS = words
            case = make()
            case.save(folder / f"{name}.gguf")
            oracle = Oracle(folder / f"{name}.gguf", case.labels or cases.WIDTH)
            if case.labels:
                (folder / f"{name}.scores").write_text("".join(f"{oracle.embedding(oracle.pair(a, b))[0]:.6f}\n" for a, b in PAIRS))
            else:
                rows = [oracle.embedding(oracle.ids(line, True, True)) for line in LINES]
                (folder / f"{name}.embeddings").write_text("".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in rows))
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:xz", preset=9) as tar:
            for path in sorted(folder.iterdir()):
                info = tarfile.TarInfo(path.name)
                info.size = path.stat().st_size
                tar.addfile(info, path.open("rb"))
        (HERE / "gguf_texts.tar.xz").write_bytes(data.getvalue())


if __name__ == "__main__":
    main()
