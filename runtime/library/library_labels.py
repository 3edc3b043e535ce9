

_PROTOTYPES.update({
    "most_tokens": (c.c_int32,),
    "pair_layout": (c.c_int, c.POINTER(c.POINTER(c.c_int32))),
    "scores": (c.c_int, c.POINTER(c.c_float), c.c_int64, c.POINTER(c.c_float)),
})

_QUERY, _DOCUMENT = ("query",), ("document", "passage", "corpus")


def _pair_layout() -> list[tuple[int, int]]:
    items = c.POINTER(c.c_int32)()
    n = _check(_call("pair_layout", items))
    return [(items[2 * i], items[2 * i + 1]) for i in range(n)]


def _after_prompt(text: str, name: str | None, usual: Sequence[str]) -> str:
    """The text after the prompt of this name, or the first usual one that the model has, or its default one."""
    if name is not None and name not in PROMPTS:
        raise ValueError("the model has no prompt %s: there are %s" % (name, ", ".join(PROMPTS) or "none"))
    names = [n for n in ([name] if name else list(usual) + [DEFAULT_PROMPT]) if n in PROMPTS]
    return (PROMPTS[names[0]] if names else "") + text


def _encode_part(text: str) -> list[int]:
    data = text.encode()
    ids = (c.c_int32 * (len(data) + 16))()
    block, memory = _memory(_call("encode_memory", len(data)))
    for _ in range(2):
        n = _check(_call("encode_marked", data, b"\1" * len(data), len(data), ids, len(ids), memory))
        if n <= len(ids):
            break
        ids = (c.c_int32 * n)()
    return list(ids[:n])


def _encode_pair(first: str, second: str) -> tuple[list[int], list[int]]:
    """Ids and types; the longer of two texts is cut first, then both."""
    layout = _pair_layout()
    if not layout:
        raise ValueError("this model or its tokenizer puts no two texts together")
    parts = {-1: _encode_part(first), -2: _encode_part(second)}
    room = _call("most_tokens") - (len(layout) - 2)
    shorter, longer = sorted(parts, key=lambda which: len(parts[which]))
    if len(parts[-1]) + len(parts[-2]) > room:
        parts[shorter] = parts[shorter][:max(room // 2, room - len(parts[longer]))]
        parts[longer] = parts[longer][:room - len(parts[shorter])]
    ids, types = [], []
    for id, type in layout:
        part = parts.get(id, [id])
        ids += part
        types += [type] * len(part)
    return ids, types


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    if numpy is not None:
        a, b = numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64)
        ab, aa, bb = float(a @ b), float(a @ a), float(b @ b)
    else:
        ab, aa, bb = (sum(x * y for x, y in zip(u, v)) for u, v in ((a, b), (a, a), (b, b)))
    return ab / (aa * bb) ** 0.5 if aa > 0 and bb > 0 else 0.0


class Texts(Model):
    """The network as it reads texts, as its program does: embeddings, ranks, labels.

    texts = Texts()
    texts.embed(["a cat", "a dog"])                     # with numpy an array [2, width], else a list of lists
    texts.rank("pets", ["a cat", "a car"], top_k=1)     # [(score, number, text)]
    texts.classify(["I like it"])                       # [[(label, score), ...]], the best first

    What is longer than the model takes is cut.
    """

    def _numbers(self, ids: Sequence[int], types: Sequence[int] | None, output: str) -> list[float]:
        given = {TOKENS: ids}
        if types and any(t.name == "token_type_ids" for t in INPUTS):
            given["token_type_ids"] = types
        outputs = self.run({name: values if numpy is not None else ([len(values)], values) for name, values in given.items()})
        value = outputs[output]
        return value.ravel() if numpy is not None else value[1]

    def embed(self, texts: Sequence[str] | str, prompt_name: str | None = None) -> Any:
        """An embedding of each text; of one text its embedding."""
        if isinstance(texts, str):
            return self._embed(texts, prompt_name, ())
        rows = [self._embed(text, prompt_name, ()) for text in texts]
        return numpy.array(rows, numpy.float32) if numpy is not None else rows

    def _embed(self, text: str, name: str | None, usual: Sequence[str]) -> Any:
        if EMBEDDING is None:
            raise ValueError("this model gives no embeddings")
        return self._numbers(encode(_after_prompt(text, name, usual)), None, EMBEDDING)

    def similarity(self, first: str, second: str) -> float:
        """The cosine of the embeddings of two texts."""
        return _cosine(self._embed(first, None, ()), self._embed(second, None, ()))

    def rank(self, query: str, texts: Sequence[str], top_k: int = 10, embeddings: Any = None) -> list[tuple[float, int, str]]:
        """Score, number and text of the nearest, the nearest first: by embeddings, or of a reranker by its scores.

        embeddings: those of the texts, as embed() gave them.
        """
        if EMBEDDING is None:
            scores = [score for score in self.score([(query, text) for text in texts])]
        else:
            if embeddings is not None and len(embeddings) != len(texts):
                raise ValueError("there are %d embeddings of %d texts" % (len(embeddings), len(texts)))
            near = self._embed(query, None, _QUERY)
            of = (lambda i: embeddings[i]) if embeddings is not None else (lambda i: self._embed(texts[i], None, _DOCUMENT))
            scores = [_cosine(near, of(i)) for i in range(len(texts))]
        best = sorted(range(len(texts)), key=lambda i: -scores[i])[:top_k]
        return [(scores[i], i, texts[i]) for i in best]

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """A reranker's score of each pair of a question and a document."""
        if TASK != "labels" or PAIR_PROMPT or len(LABELS) != 1:
            raise ValueError("this model gives no scores of pairs")
        return [self._scores(pair)[0] for pair in pairs]

    def _scores(self, text: str | tuple[str, str]) -> list[float]:
        ids, types = (encode(text), None) if isinstance(text, str) else _encode_pair(*text)
        logits = self._numbers(ids, types, "logits")
        given, scores = (c.c_float * len(logits))(*logits), (c.c_float * len(logits))()
        _check(_call("scores", given, len(logits), scores))
        return list(scores)

    def classify(self, texts: Sequence[str | tuple[str, str]] | str, top_k: int | None = None) -> list[Any]:
        """Labels with scores of each text, or of each pair of texts; of one text its labels."""
        if TASK != "labels":
            raise ValueError("this model gives no labels of texts")
        if isinstance(texts, str):
            return self.classify([texts], top_k)[0]
        found = [sorted(zip(LABELS, self._scores(text)), key=lambda pair: -pair[1]) for text in texts]
        return [labels[:top_k] for labels in found]


_shared: list[Texts] = []
_sharing = threading.Lock()


def _shared_texts() -> Texts:
    with _sharing:
        if not _shared:
            _shared.append(Texts())
    return _shared[0]


def embed(texts: Sequence[str] | str, prompt_name: str | None = None) -> Any:
    """Texts.embed of a network that all calls share."""
    return _shared_texts().embed(texts, prompt_name)


def rank(query: str, texts: Sequence[str], top_k: int = 10, embeddings: Any = None) -> list[tuple[float, int, str]]:
    """Texts.rank of a network that all calls share."""
    return _shared_texts().rank(query, texts, top_k, embeddings)


def classify(texts: Sequence[str | tuple[str, str]] | str, top_k: int | None = None) -> list[Any]:
    """Texts.classify of a network that all calls share."""
    return _shared_texts().classify(texts, top_k)
