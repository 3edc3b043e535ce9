

class _Options(c.Structure):
    _fields_ = [("slots", c.c_int32), ("max_rows", c.c_int32), ("threads", c.c_int32), ("cpu", c.c_char_p)]


class _Row(c.Structure):
    _fields_ = [("token", c.c_int32), ("slot", c.c_int32), ("position", c.c_int32), ("wants_logits", c.c_bool)]


class _Bias(c.Structure):
    _fields_ = [("token", c.c_int32), ("bias", c.c_float)]


class _Sampling(c.Structure):
    _fields_ = [("temperature", c.c_double), ("top_p", c.c_double), ("min_p", c.c_double), ("repeat_penalty", c.c_double),
                ("top_k", c.c_int32), ("seed", c.c_uint64)] + [(name, c.c_double) for name in (
                    "presence_penalty", "frequency_penalty", "typical", "xtc_probability", "xtc_threshold", "dynatemp_range",
                    "dynatemp_exponent", "dry_multiplier", "dry_base", "mirostat_tau", "mirostat_eta")] + [
                (name, c.c_int32) for name in ("mirostat", "repeat_last_n", "dry_allowed_length", "dry_penalty_last_n", "n_bias")
                ] + [("bias", c.POINTER(_Bias))]


_PROTOTYPES.update({
    "forward": (c.c_int, c.POINTER(_State), c.POINTER(_Row), c.c_int, c.c_void_p),
    "read_source": (c.c_int, c.POINTER(_State), c.c_int, c.c_void_p, c.c_int),
    "first_tokens": (c.c_int, c.c_void_p, c.c_int),
    "begin_token": (c.c_int32,),
    "end_tokens": (c.c_int, c.c_void_p, c.c_int),
    "slot_truncate": (c.c_int, c.POINTER(_State), c.c_int, c.c_int),
    "slot_copy": (c.c_int, c.POINTER(_State), c.c_int, c.c_int),
    "slot_length": (c.c_int, c.POINTER(_State), c.c_int),
    "slot_saved_bytes": (c.c_size_t, c.POINTER(_State), c.c_int),
    "slot_save": (c.c_int, c.POINTER(_State), c.c_int, c.c_void_p, c.c_size_t),
    "slot_load": (c.c_int, c.POINTER(_State), c.c_int, c.c_char_p, c.c_size_t),
    "sampler_bytes": (c.c_size_t,),
    "sampler_init": (c.c_int, c.POINTER(_State), c.POINTER(_Sampling), c.c_void_p, c.c_size_t),
    "sample": (c.c_int32, c.POINTER(_State), c.c_void_p, c.c_void_p, c.c_int),
    "decode_max": (c.c_size_t,),
    "decode": (c.c_size_t, c.POINTER(c.c_int), c.c_int32, c.c_void_p),
})


def _tokens(name):
    ids = (c.c_int32 * _check(_call(name, None, 0)))()
    _call(name, ids, len(ids))
    return list(ids)


BEGIN = _call("begin_token")           # begins a text, or -1
END = _tokens("end_tokens")            # each ends one
FIRST = _tokens("first_tokens")        # what the decoder of an encoder-decoder begins with


class Decoder:
    """Ids to the bytes of a text, one after the other."""

    def __init__(self):
        self._started = c.c_int(0)
        self._bytes = c.create_string_buffer(_call("decode_max") + 1)

    def add(self, token: int) -> bytes:
        """The bytes of the next token, perhaps a part of a character."""
        n = _call("decode", self._started, token, self._bytes)
        return self._bytes.raw[:n]


def decode(tokens: Iterable[int]) -> str:
    """The text of ids."""
    decoder = Decoder()
    return b"".join(decoder.add(t) for t in tokens).decode(errors="replace")


_SETTINGS = {name for name, _ in _Sampling._fields_} - {"n_bias"}


class Sampler:
    """Chooses tokens as the model's program does. 0 turns a setting off.

    Sampler(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, seed=7, bias={15: -1.5})

    The other settings of the C interface: repeat_penalty, presence_penalty, frequency_penalty, typical, xtc_probability,
    xtc_threshold, dynatemp_range, dynatemp_exponent, dry_multiplier, dry_base, dry_allowed_length, dry_penalty_last_n,
    mirostat, mirostat_tau, mirostat_eta, repeat_last_n.
    """

    def __init__(self, temperature: float = 0.8, top_k: int = 40, top_p: float = 0.95, min_p: float = 0.05,
                 repeat_penalty: float = 0.0, seed: int = 0, bias: Mapping[int, float] | None = None, **more: float):
        _refuse_unknown("Sampler", more, _SETTINGS)
        size = _call("sampler_bytes")
        self._block, memory = _memory(size)
        self._sampler = _State()
        self._bias = (_Bias * max(len(bias or {}), 1))(*(bias or {}).items())
        settings = _Sampling(temperature, top_p, min_p, repeat_penalty, top_k, seed, n_bias=len(bias or {}), bias=self._bias, **more)
        _check(_call("sampler_init", self._sampler, settings, memory, size))

    def sample(self, logits: Sequence[float], tokens: Sequence[int]) -> int:
        """The next token after these, by the logits of the last one."""
        ids = (c.c_int32 * max(len(tokens), 1))(*tokens)
        values = (c.c_float * VOCAB_SIZE)(*logits)
        return _check(_call("sample", self._sampler, values, ids, len(tokens)))


class Model(_Model):
    """The model with room for `slots` texts at once.

    model = Model()
    print("".join(model.generate("Once upon a time", 100, seed=7)))
    logits = model.forward(encode("Once"), slot=0)      # of the last token: VOCAB_SIZE numbers

    It serves one caller at a time; threads of one program that share it wait for each other. With several slots
    generate_batch() writes several texts at once, each with the bits that it has alone.
    """

    def __init__(self, slots: int = 1, threads: int = 0, max_rows: int = 0, cpu: str | None = None):
        self._lock = threading.RLock()
        self._slots = slots
        self._open(_Options(slots, max_rows, threads, cpu.encode() if cpu else None))

    def _forward(self, rows: Sequence[tuple[int, int, int, bool]]) -> list[Any]:
        """The logits of each row (token, slot, position, wants_logits) that wants them."""
        given = (_Row * max(len(rows), 1))(*[_Row(*row) for row in rows])
        wanted = sum(row[3] for row in rows)
        logits = (c.c_float * (VOCAB_SIZE * max(wanted, 1)))()
        with self._lock:
            _check(_call("forward", self._state, given, len(rows), logits))
        if numpy:
            return list(numpy.frombuffer(logits, dtype=numpy.float32).reshape(-1, VOCAB_SIZE)[:wanted])
        return [list(logits[i * VOCAB_SIZE:(i + 1) * VOCAB_SIZE]) for i in range(wanted)]

    def forward(self, tokens: Sequence[int], slot: int = 0) -> Any:
        """Reads tokens into a slot, after those that it has read. The logits of the last: an array of numpy, or a list."""
        at = self.length(slot)
        rows = [(t, slot, at + i, i == len(tokens) - 1) for i, t in enumerate(tokens)]
        return (self._forward(rows) or [[]])[0]

    def read_source(self, tokens: Sequence[int], slot: int = 0) -> None:
        """Of an encoder-decoder: what the slot's decoder attends to; the slot begins anew."""
        ids = (c.c_int32 * max(len(tokens), 1))(*tokens)
        _check(_call("read_source", self._state, slot, ids, len(tokens)))

    def length(self, slot: int = 0) -> int:
        """The number of tokens that a slot has read."""
        return _check(_call("slot_length", self._state, slot))

    def truncate(self, length: int = 0, slot: int = 0) -> None:
        """Keeps the first `length` tokens."""
        _check(_call("slot_truncate", self._state, slot, length))

    def copy(self, to: int, source: int) -> None:
        """Makes slot `to` a copy of another one."""
        _check(_call("slot_copy", self._state, to, source))

    def save(self, slot: int = 0) -> bytes:
        """The slot as bytes: load() resumes from them with the same bits, here or elsewhere."""
        size = _call("slot_saved_bytes", self._state, slot)
        data = c.create_string_buffer(max(size, 1))
        _check(_call("slot_save", self._state, slot, data, size))
        return data.raw[:size]

    def load(self, data: bytes, slot: int = 0) -> None:
        """Makes the slot what save() gave."""
        _check(_call("slot_load", self._state, slot, data, len(data)))

    def _begin(self, prompt: Sequence[int], slot: int) -> list[int]:
        """Empties the slot and returns the tokens that are to be read first."""
        if FIRST:
            self.read_source(prompt, slot)
            return list(FIRST)
        self.truncate(0, slot)
        return list(prompt) or [BEGIN]

    def generate_tokens(self, prompt: Sequence[int], count: int = 256, slot: int = 0, sampler: Sampler | None = None,
                        **sampling: Any) -> Iterator[int]:
        """Tokens after those of the prompt (of an encoder-decoder: for this source), until the text ends.

        The iterator may be left at any time; the slot then holds the tokens so far.
        """
        _check_count(count)
        chooses = sampler or Sampler(**sampling)
        return self._generate_tokens(list(prompt), count, slot, chooses)

    def _generate_tokens(self, prompt: list[int], count: int, slot: int, sampler: Sampler) -> Iterator[int]:
        unread = self._begin(prompt, slot)
        tokens = list(unread)
        for _ in range(count):
            if self.length(slot) + len(unread) > CONTEXT:
                return
            chosen = sampler.sample(self.forward(unread, slot), tokens)
            if chosen in END:
                return
            yield chosen
            tokens.append(chosen)
            unread = [chosen]

    def generate(self, prompt: str, count: int = 256, slot: int = 0, stop: Sequence[str] = (), **sampling: Any) -> Iterator[str]:
        """Pieces of text after a text; `stop`: texts, each of which ends it.

        for piece in model.generate("Once upon a time", seed=7, temperature=0.5):
            print(piece, end="", flush=True)
        """
        _check_count(count)
        chooses = sampling.pop("sampler", None) or Sampler(**sampling)
        ids = encode(prompt) or [BEGIN]
        return _until(_pieces(ids, self._generate_tokens(ids, count, slot, chooses)), _as_texts(stop))

    def generate_batch(self, prompts: Sequence[str], count: int = 256, **sampling: Any) -> list[str]:
        """The texts after several prompts, as many at once as there are slots; each as it is alone."""
        _check_count(count)
        Sampler(**sampling)
        texts, waiting, running = [""] * len(prompts), list(enumerate(prompts))[::-1], {}
        if FIRST:
            return ["".join(self.generate(p, count, **sampling)) for p in prompts]
        while waiting or running:
            for slot in range(self._slots):
                if slot not in running and waiting and count:
                    number, prompt = waiting.pop()
                    running[slot] = _Answer(number, encode(prompt) or [BEGIN], Sampler(**sampling))
                    self.truncate(0, slot)
            if not running:
                break
            self._step_batch(running, texts, count)
        return texts

    def _step_batch(self, running: dict[int, "_Answer"], texts: list[str], count: int) -> None:
        rows: list[tuple[int, int, int, bool]] = []
        for slot, a in list(running.items()):
            at = self.length(slot)
            if at + len(a.unread) > CONTEXT or len(a.written) == count:
                texts[a.number] = a.text()
                del running[slot]
                continue
            rows += [(t, slot, at + i, i == len(a.unread) - 1) for i, t in enumerate(a.unread)]
        for (slot, a), logits in zip(list(running.items()), self._forward(rows) if rows else []):
            chosen = a.sampler.sample(logits, a.prompt + a.written)
            if chosen in END:
                texts[a.number] = a.text()
                del running[slot]
            else:
                a.written.append(chosen)
                a.unread = [chosen]


class _Answer:
    """A text of a batch."""

    def __init__(self, number: int, prompt: list[int], sampler: Sampler):
        self.number, self.prompt, self.sampler = number, prompt, sampler
        self.unread, self.written = list(prompt), []  # type: list[int], list[int]

    def text(self) -> str:
        return "".join(_pieces(self.prompt, iter(self.written)))


def _check_count(count: int) -> None:
    if count < 0:
        raise ValueError("count is %d: expected the number of tokens to generate, 0 or more" % count)


def _as_texts(stop: str | Sequence[str]) -> list[str]:
    return [stop] if isinstance(stop, str) else list(stop)


def _pieces(prompt: Sequence[int], tokens: Iterator[int]) -> Iterator[str]:
    """The texts of tokens after a prompt, each of whole characters."""
    decoder, held = Decoder(), b""
    for t in [] if FIRST else prompt:
        decoder.add(t)
    for t in tokens:
        held += decoder.add(t)
        try:
            text, held = held.decode(), b""
        except UnicodeDecodeError as e:
            whole = e.start if e.reason == "unexpected end of data" else len(held)
            text, held = held[:whole].decode(errors="replace"), held[whole:]
        yield text
    yield held.decode(errors="replace")


def _until(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """Ends before the first of the texts `stops`; what may be the beginning of one is held back."""
    held = ""
    for piece in pieces:
        held += piece
        found = [held.find(s) for s in stops if s and s in held]
        if found:
            yield held[:min(found)]
            return
        keep = max([n for s in stops for n in range(1, len(s)) if held.endswith(s[:n])], default=0)
        yield held[:len(held) - keep]
        held = held[len(held) - keep:]
    yield held


def generate(prompt: str, count: int = 256, **sampling: Any) -> Iterator[str]:
    """Model.generate of a model that all calls share."""
    return _shared_model().generate(prompt, count, **sampling)


_shared: list[Model] = []
_sharing = threading.Lock()


def _shared_model() -> Model:
    with _sharing:
        if not _shared:
            _shared.append(Model())
    return _shared[0]
