

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


class _Prompt(c.Structure):
    _fields_ = [("text", c.c_void_p), ("marks", c.c_void_p), ("bytes", c.c_size_t), ("end", c.c_int32), ("memory", c.c_void_p),
                ("error", c.c_char * 1024)]


class _Form(c.Structure):
    _fields_ = [("form", c.c_void_p), ("end", c.c_int32), ("error", c.c_char * 512)]


_GRAMMAR, _JSON_SCHEMA, _JSON_OBJECT = range(3)
_BAD_TEXT, _TEXT_ENDS = -101, -102

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
    "has_template": (c.c_bool,),
    "prompt_open": (c.c_int, c.POINTER(_Prompt), c.c_char_p, c.c_size_t),
    "prompt_close": (None, c.POINTER(_Prompt)),
    "form_open": (c.c_int, c.POINTER(_Form), c.c_int, c.c_char_p, c.c_size_t),
    "form_start": (c.c_int, c.POINTER(_Form), c.c_bool),
    "form_sample": (c.c_int32, c.POINTER(_Form), c.POINTER(_State), c.c_void_p, c.c_void_p, c.c_int),
    "form_close": (None, c.POINTER(_Form)),
    "sampler_save": (c.c_int, c.POINTER(_State), c.c_void_p),
    "sampler_load": (c.c_int, c.POINTER(_State), c.c_char_p),
    "checksum": (c.c_uint64, c.c_char_p, c.c_size_t),
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


_FORMS = {"grammar", "json_schema", "json_object"}
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
        _refuse_unknown("Sampler", more, _SETTINGS | _FORMS)
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

    def _save(self) -> bytes:
        saved = c.create_string_buffer(48)
        _check(_call("sampler_save", self._sampler, saved))
        return saved.raw

    def _load(self, saved: bytes) -> None:
        _check(_call("sampler_load", self._sampler, saved))


def _check_text(status: int, error: bytes) -> int:
    if status == _BAD_TEXT:
        raise ValueError(error.decode(errors="replace"))
    return status if status == _TEXT_ENDS else _check(status)


class Form:
    """The form of an answer. One of: a grammar in llama.cpp's notation, a JSON schema (a dictionary, or its text), json_object=True.

    Form(grammar='root ::= "yes" | "no"')
    Form(json_schema={"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]})
    """

    def __init__(self, grammar: str | None = None, json_schema: Mapping[str, Any] | str | None = None, json_object: bool = False):
        given = (grammar is not None) + (json_schema is not None) + bool(json_object)
        if given != 1:
            raise ValueError("a form is one of grammar, json_schema and json_object, here are %d" % given)
        kind = _GRAMMAR if grammar is not None else _JSON_SCHEMA if json_schema is not None else _JSON_OBJECT
        text = grammar if grammar is not None else "" if json_object else json_schema
        data = (text if isinstance(text, str) else json.dumps(text)).encode()
        self._form = _Form()
        _check_text(_call("form_open", self._form, kind, data, len(data)), self._form.error)

    def _start(self, first: bool, end: int) -> None:
        self._form.end = end
        _check(_call("form_start", self._form, first))

    def _sample(self, sampler: Sampler, logits: Sequence[float], tokens: Sequence[int]) -> int | None:
        """The next token, or None: the answer is whole."""
        ids = (c.c_int32 * max(len(tokens), 1))(*tokens)
        values = (c.c_float * VOCAB_SIZE)(*logits)
        status = _call("form_sample", self._form, sampler._sampler, values, ids, len(tokens))
        return None if _check_text(status, self._form.error) == _TEXT_ENDS else status

    def __del__(self):
        if getattr(self, "_form", None) is not None:
            _call("form_close", self._form)


def _form_of(settings: dict[str, Any]) -> Form | None:
    """Takes the settings of a form out of others."""
    found = {name: settings.pop(name) for name in _FORMS & set(settings)}
    found = {name: value for name, value in found.items() if value is not None and value is not False}
    return Form(**found) if found else None


def _encode_marked(text: bytes, marks: bytes | None) -> list[int]:
    ids = (c.c_int32 * (len(text) + 16))()
    block, memory = _memory(_call("encode_memory", len(text)))
    for _ in range(2):
        n = _check(_call("encode_marked", text, marks, len(text), ids, len(ids), memory))
        if n <= len(ids):
            break
        ids = (c.c_int32 * n)()
    return list(ids[:n])


class _Rendered:
    """A prompt: text, marks of what comes from the messages, and the token that ends an answer."""

    def __init__(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None, values: Mapping[str, Any]):
        given = {"messages": list(messages), "kwargs": dict(values)}
        if tools:
            given["tools"] = list(tools)
        if "add_generation_prompt" in values:
            given["add_generation_prompt"] = given["kwargs"].pop("add_generation_prompt")
        data = json.dumps(given).encode()
        prompt = _Prompt()
        _check_text(_call("prompt_open", prompt, data, len(data)), prompt.error)
        self.text, self.marks = c.string_at(prompt.text, prompt.bytes), c.string_at(prompt.marks, prompt.bytes)
        self.end = prompt.end
        _call("prompt_close", prompt)


def template(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None, **values: Any) -> str:
    """The prompt that the model's chat template makes of messages.

    template([{"role": "user", "content": "Hi"}], add_generation_prompt=False)

    tools: as in OpenAI's API; values: further variables of the template (enable_thinking=False).
    """
    return _Rendered(messages, tools, values).text.decode(errors="replace")


class Model(_Model):
    """The model with room for `slots` texts at once.

    model = Model()
    print("".join(model.generate("Once upon a time", 100, seed=7)))
    logits = model.forward(encode("Once"), slot=0)      # of the last token: VOCAB_SIZE numbers

    It serves one caller at a time; threads of one program that share it wait for each other. With several slots
    generate_batch() writes several texts at once, each with the bits that it has alone. A model with a chat template answers:

    print("".join(model.ask("What is the capital of France?")))
    chat = model.chat(system="Be brief.")               # a conversation
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
        form = _form_of(sampling)
        chooses = sampler or Sampler(**sampling)
        return self._generate_tokens(list(prompt), count, slot, chooses, form)

    def _generate_tokens(self, prompt: list[int], count: int, slot: int, sampler: Sampler, form: Form | None) -> Iterator[int]:
        yield from self._write(self._begin(prompt, slot), count, slot, sampler, form)

    def _write(self, tokens: list[int], count: int, slot: int, sampler: Sampler, form: Form | None = None,
               end: int = -1) -> Iterator[int]:
        """Appends to tokens, of which the slot has read the first, and gives what it appends."""
        if form:
            form._start(_is_first(tokens), end)
        for _ in range(count):
            if len(tokens) > CONTEXT:
                return
            logits = self.forward(tokens[self.length(slot):], slot)
            chosen = form._sample(sampler, logits, tokens) if form else sampler.sample(logits, tokens)
            if chosen is None or chosen in END or chosen == end:
                return
            tokens.append(chosen)
            yield chosen

    def generate(self, prompt: str, count: int = 256, slot: int = 0, stop: Sequence[str] = (), session: str | None = None,
                 **sampling: Any) -> Iterator[str]:
        """Pieces of text after a text; `stop`: texts, each of which ends it.

        for piece in model.generate("Once upon a time", seed=7, temperature=0.5):
            print(piece, end="", flush=True)

        grammar, json_schema, json_object: the form of the text (Form). session: a file as the program's --session has it, in
        which the prompt and the text stay; with the prompt "" the text goes on.
        """
        _check_count(count)
        form = _form_of(sampling)
        given = "seed" in sampling
        chooses = sampling.pop("sampler", None) or Sampler(**sampling)
        ids = encode(prompt)
        if session is None:
            ids = ids or [BEGIN]
            return _until(_pieces(ids, self._generate_tokens(ids, count, slot, chooses, form)), _as_texts(stop))
        if FIRST:
            raise ValueError("an encoder-decoder has no sessions")
        return self._generate_session(ids if prompt else [], count, slot, _as_texts(stop), session, given, chooses, form)

    def _generate_session(self, ids: list[int], count: int, slot: int, stop: list[str], session: str, seeded: bool,
                          sampler: Sampler, form: Form | None) -> Iterator[str]:
        kept = _Session.read(session) if os.path.exists(session) else None
        self.truncate(0, slot)
        if kept:
            self.load(kept.slot, slot)
            if not seeded:
                sampler._load(kept.sampler)
        tokens = ids or (kept.tokens if kept else [BEGIN])
        self._keep_equal(kept.tokens if kept else [], tokens, slot)
        before = list(tokens)
        try:
            yield from _until(_pieces(before, self._write(tokens, count, slot, sampler, form)), stop)
        finally:
            if self.length(slot):
                _Session(tokens, self.save(slot), sampler._save()).write(session)

    def _keep_equal(self, read: Sequence[int], tokens: Sequence[int], slot: int) -> None:
        """Keeps what the slot has read of these tokens, but for the last one."""
        kept, most = 0, min(self.length(slot), len(read), len(tokens) - 1)
        while kept < most and read[kept] == tokens[kept]:
            kept += 1
        try:
            self.truncate(kept, slot)
        except Error as e:
            if e.status != _BEHIND_WINDOW:
                raise
            self.truncate(0, slot)

    def ask(self, question: str, count: int = CONTEXT, system: str | None = None, slot: int = 0, stop: Sequence[str] = (),
            **sampling: Any) -> Iterator[str]:
        """Pieces of the answer to a question, by the model's chat template. Settings: as of generate()."""
        forms = {name: sampling.pop(name) for name in _FORMS & set(sampling)}
        return Chat(self, system, slot, **sampling).ask(question, count, stop, **forms)

    def chat(self, system: str | None = None, slot: int = 0, **sampling: Any) -> Chat:
        """A conversation in a slot."""
        return Chat(self, system, slot, **sampling)

    def generate_batch(self, prompts: Sequence[str], count: int = 256, **sampling: Any) -> list[str]:
        """The texts after several prompts, as many at once as there are slots; each as it is alone."""
        _check_count(count)
        forms = {name: sampling.pop(name) for name in _FORMS & set(sampling)}
        Sampler(**sampling), _form_of(dict(forms))
        texts, waiting, running = [""] * len(prompts), list(enumerate(prompts))[::-1], {}
        if FIRST:
            return ["".join(self.generate(p, count, **sampling, **forms)) for p in prompts]
        while waiting or running:
            for slot in range(self._slots):
                if slot not in running and waiting and count:
                    number, prompt = waiting.pop()
                    running[slot] = _Answer(number, encode(prompt) or [BEGIN], Sampler(**sampling), _form_of(dict(forms)))
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
            tokens = a.prompt + a.written
            chosen = a.form._sample(a.sampler, logits, tokens) if a.form else a.sampler.sample(logits, tokens)
            if chosen is None or chosen in END:
                texts[a.number] = a.text()
                del running[slot]
            else:
                a.written.append(chosen)
                a.unread = [chosen]


class _Answer:
    """A text of a batch."""

    def __init__(self, number: int, prompt: list[int], sampler: Sampler, form: Form | None):
        self.number, self.prompt, self.sampler, self.form = number, prompt, sampler, form
        if form:
            form._start(_is_first(prompt), -1)
        self.unread, self.written = list(prompt), []  # type: list[int], list[int]

    def text(self) -> str:
        return "".join(_pieces(self.prompt, iter(self.written)))


def _is_first(tokens: Sequence[int]) -> bool:
    """No text precedes what follows these tokens."""
    decoder = Decoder()
    for t in tokens:
        decoder.add(t)
    return not decoder._started.value & 1


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


_BEHIND_WINDOW = -24
_HEADER = struct.Struct("<8sQQQQQ48s16sq")
_MAGIC = b"burin\nS2"


class _Session:
    """A file of --session: tokens, the text that they are, messages, the sampler, and the slot."""

    def __init__(self, tokens: list[int], slot: bytes, sampler: bytes, read: bytes = b"", marks: bytes = b"", turns: bytes = b""):
        self.tokens, self.slot, self.sampler = tokens, slot, sampler
        self.read_text, self.marks, self.turns = read, marks, turns

    @classmethod
    def read(cls, path: str) -> _Session:
        with open(path, "rb") as file:
            data = file.read()
        why = "not a session of burin's"
        if len(data) >= _HEADER.size and data[:8] == _MAGIC:
            magic, checksum, size, read, turns, slot, sampler, name, n = _HEADER.unpack_from(data)
            parts = [4 * n, read, read, turns, slot]
            if name != _identity():
                why = "of another model, or of one that was built with other options"
            elif n < 1 or size != len(data) or _HEADER.size + sum(parts) != size or checksum != _checksum(data[16:]):
                why = "damaged"
            else:
                at = [_HEADER.size + sum(parts[:i]) for i in range(6)]
                part = [data[at[i]:at[i + 1]] for i in range(5)]
                tokens = list(struct.unpack("<%di" % n, part[0]))
                return cls(tokens, part[4], sampler, part[1], part[2], part[3])
        raise ValueError("%s: %s" % (path, why))

    def write(self, path: str) -> None:
        """Replaces the file at once; nobody else may read it."""
        rest = (struct.pack("<%di" % len(self.tokens), *self.tokens) + self.read_text + self.marks + self.turns + self.slot)
        size = _HEADER.size + len(rest)
        head = _HEADER.pack(_MAGIC, 0, size, len(self.read_text), len(self.turns), len(self.slot), self.sampler, _identity(),
                            len(self.tokens))
        head = head[:8] + struct.pack("<Q", _checksum(head[16:] + rest)) + head[16:]
        beside = "%s.%d" % (path, os.getpid())
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(head + rest)
        os.replace(beside, path)


def _checksum(data: bytes) -> int:
    return _call("checksum", data, len(data))


def _identity() -> bytes:
    return identity().encode()[:16].ljust(16, b"\0")


def _as_json(turn: Mapping[str, Any]) -> str:
    """A message as the program writes it: control characters by their numbers."""
    if any(not isinstance(value, str) for value in turn.values()):
        return json.dumps(turn, ensure_ascii=False)
    plain = {i: "\\u%04x" % i for i in range(32)}
    plain[ord('"')], plain[ord("\\")] = '\\"', "\\\\"
    return "{%s}" % ", ".join('"%s": "%s"' % (key.translate(plain), value.translate(plain)) for key, value in turn.items())


class Chat:
    """A conversation with a model in one of its slots, which reads new tokens alone. Settings are those of a Sampler.

    chat = model.chat(system="Be brief.", temperature=0.5, seed=7)
    for piece in chat.ask("What is the capital of France?"):
        print(piece, end="", flush=True)
    chat.save("s.bin")                   # the program goes on: ./story --chat --session s.bin

    messages: the turns so far, as in OpenAI's API; they may be changed between questions.
    """

    def __init__(self, model: Model, system: str | None = None, slot: int = 0, **sampling: Any):
        if not _call("has_template"):
            raise ValueError("this model has no chat template: generate() continues a text")
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        self._sampler = sampling.pop("sampler", None) or Sampler(**sampling)
        self._model, self._slot, self._tokens, self._read, self._marks = model, slot, [], b"", b""
        model.truncate(0, slot)

    def ask(self, question: str, count: int = CONTEXT, stop: Sequence[str] = (), **form: Any) -> Iterator[str]:
        """Pieces of the answer. Once it ends, or is left, the question and what there is of the answer are messages.

        grammar, json_schema, json_object: its form (Form).
        """
        _check_count(count)
        held = _form_of(form)
        _refuse_unknown("ask", form, _FORMS | {"count", "stop"})
        rendered = _Rendered(self.messages + [{"role": "user", "content": question}], None, {})
        tokens = self._tokens_of(rendered)
        if len(tokens) > CONTEXT:
            raise ValueError("the conversation has %d tokens, the model takes %d" % (len(tokens), CONTEXT))
        return self._answer(question, rendered, tokens, count, _as_texts(stop), held)

    def _tokens_of(self, r: _Rendered) -> list[int]:
        """After the text that was read, whose tokens stay, if the tokenizer cuts there too."""
        ids = _encode_marked(r.text, r.marks)
        n = len(self._read)
        if not n or len(r.text) <= n or r.text[:n] != self._read:
            return ids
        before = _encode_marked(r.text[:n], r.marks[:n])
        agree = r.marks[:n] == self._marks or _encode_marked(self._read, self._marks) == before
        return self._tokens + ids[len(before):] if agree and ids[:len(before)] == before else ids

    def _answer(self, question: str, r: _Rendered, tokens: list[int], count: int, stop: list[str], form: Form | None) -> Iterator[str]:
        model, slot, answer = self._model, self._slot, []
        model._keep_equal(self._tokens, tokens, slot)
        before = list(tokens)
        try:
            for piece in _until(_pieces(before, model._write(tokens, count, slot, self._sampler, form, r.end)), stop):
                answer.append(piece)
                yield piece
        finally:
            text = "".join(answer)
            self._tokens, self._read = tokens, r.text + text.encode()
            self._marks = r.marks + b"\1" * len(text.encode())
            self.messages += [{"role": "user", "content": question}, {"role": "assistant", "content": text}]

    def save(self, path: str) -> None:
        """Writes the conversation as the program's --session does."""
        if not self._tokens:
            raise ValueError("the conversation has no answer yet")
        turns = ("[" + ",\n ".join(_as_json(turn) for turn in self.messages) + "]").encode()
        _Session(self._tokens, self._model.save(self._slot), self._sampler._save(), self._read, self._marks, turns).write(path)

    def load(self, path: str) -> None:
        """Goes on with a conversation of save(), or of a program's --chat --session."""
        kept = _Session.read(path)
        self._model.load(kept.slot, self._slot)
        self._sampler._load(kept.sampler)
        self.messages = json.loads(kept.turns) if kept.turns else []
        self._tokens, self._read, self._marks = kept.tokens, kept.read_text, kept.marks


def ask(question: str, count: int = CONTEXT, **sampling: Any) -> Iterator[str]:
    """Model.ask of a model that all calls share."""
    return _shared_model().ask(question, count, **sampling)


_shared: list[Model] = []
_sharing = threading.Lock()


def _shared_model() -> Model:
    with _sharing:
        if not _shared:
            _shared.append(Model())
    return _shared[0]
