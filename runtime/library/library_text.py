

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

    def add(self, token):
        n = _call("decode", self._started, token, self._bytes)
        return self._bytes.raw[:n]


def decode(tokens):
    """The text of ids."""
    decoder = Decoder()
    return b"".join(decoder.add(t) for t in tokens).decode(errors="replace")


class Sampler:
    """Chooses tokens as the model's program does. 0 turns a setting off; `more`: the other settings of the C interface, as in
    Sampler(dry_multiplier=0.8, bias={15: -1.5})."""

    def __init__(self, temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repeat_penalty=0.0, seed=0, bias=None, **more):
        size = _call("sampler_bytes")
        self._block, memory = _memory(size)
        self._sampler = _State()
        self._bias = (_Bias * max(len(bias or {}), 1))(*(bias or {}).items())
        settings = _Sampling(temperature, top_p, min_p, repeat_penalty, top_k, seed, n_bias=len(bias or {}), bias=self._bias, **more)
        _check(_call("sampler_init", self._sampler, settings, memory, size))

    def sample(self, logits, tokens):
        ids = (c.c_int32 * max(len(tokens), 1))(*tokens)
        values = (c.c_float * VOCAB_SIZE)(*logits)
        return _check(_call("sample", self._sampler, values, ids, len(tokens)))


class Model(_Model):
    """The model with room for `slots` texts at once.

    model = Model()
    print("".join(model.generate("Once upon a time", 100, seed=7)))
    logits = model.forward(encode("Once"), slot=0)      # of the last token: VOCAB_SIZE numbers
    """

    def __init__(self, slots=1, threads=0, max_rows=0, cpu=None):
        self._open(_Options(slots, max_rows, threads, cpu.encode() if cpu else None))

    def forward(self, tokens, slot=0):
        """Reads tokens into a slot, behind what it has read. The logits of the last: an array of numpy, or a list."""
        at = self.length(slot)
        rows = (_Row * max(len(tokens), 1))()
        for i, t in enumerate(tokens):
            rows[i] = _Row(t, slot, at + i, i == len(tokens) - 1)
        logits = (c.c_float * VOCAB_SIZE)()
        _check(_call("forward", self._state, rows, len(tokens), logits))
        return numpy.frombuffer(logits, dtype=numpy.float32) if numpy else list(logits)

    def read_source(self, tokens, slot=0):
        """Of an encoder-decoder: what the slot's decoder attends to; the slot begins anew."""
        ids = (c.c_int32 * max(len(tokens), 1))(*tokens)
        _check(_call("read_source", self._state, slot, ids, len(tokens)))

    def length(self, slot=0):
        return _check(_call("slot_length", self._state, slot))

    def truncate(self, length=0, slot=0):
        """Keeps the first `length` tokens."""
        _check(_call("slot_truncate", self._state, slot, length))

    def copy(self, to, source):
        _check(_call("slot_copy", self._state, to, source))

    def save(self, slot=0):
        """The slot as bytes: load() goes on from them with the same bits, here or elsewhere."""
        size = _call("slot_saved_bytes", self._state, slot)
        data = c.create_string_buffer(max(size, 1))
        _check(_call("slot_save", self._state, slot, data, size))
        return data.raw[:size]

    def load(self, data, slot=0):
        _check(_call("slot_load", self._state, slot, data, len(data)))

    def generate_tokens(self, prompt, count=256, slot=0, sampler=None, **sampling):
        """Tokens behind those of the prompt (of an encoder-decoder: for this source), until the text ends."""
        sampler = sampler or Sampler(**sampling)
        tokens, unread = list(prompt), list(prompt)
        if FIRST:
            self.read_source(prompt, slot)
            tokens, unread = list(FIRST), list(FIRST)
        else:
            self.truncate(0, slot)
        for _ in range(count):
            if self.length(slot) + len(unread) > CONTEXT:
                return
            chosen = sampler.sample(self.forward(unread, slot), tokens)
            if chosen in END:
                return
            yield chosen
            tokens.append(chosen)
            unread = [chosen]

    def generate(self, prompt, count=256, slot=0, **sampling):
        """Pieces of text behind a text."""
        ids, decoder, held = encode(prompt) or [BEGIN], Decoder(), b""
        for t in [] if FIRST else ids:
            decoder.add(t)
        for t in self.generate_tokens(ids, count, slot, **sampling):
            held += decoder.add(t)
            try:
                text, held = held.decode(), b""
            except UnicodeDecodeError as e:
                whole = e.start if e.reason == "unexpected end of data" else len(held)
                text, held = held[:whole].decode(errors="replace"), held[whole:]
            yield text
        yield held.decode(errors="replace")
