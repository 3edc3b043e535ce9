

class _Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_char_p), ("rank", c.c_int), ("dims", c.c_int64 * 8), ("shape", c.c_char_p),
                ("usually", c.c_int), ("least", c.c_int64), ("most", c.c_int64)]


class _Options(c.Structure):
    _fields_ = [("threads", c.c_int32), ("cpu", c.c_char_p), ("dims", c.POINTER(c.c_int64))]


_PROTOTYPES.update({
    "inputs": (c.POINTER(_Tensor), c.POINTER(c.c_int)),
    "outputs": (c.POINTER(_Tensor), c.POINTER(c.c_int)),
    "shapes": (c.c_int, c.c_void_p, c.c_void_p),
    "run": (c.c_int, c.POINTER(_State), c.c_void_p, c.c_void_p, c.c_void_p),
})

# of elements: what ctypes and numpy call them (bf16: its bits)
_TYPES = {"f32": (c.c_float, "float32"), "f64": (c.c_double, "float64"), "f16": (c.c_uint16, "float16"),
          "bf16": (c.c_uint16, "uint16"), "bool": (c.c_bool, "bool"), "i8": (c.c_int8, "int8"), "i16": (c.c_int16, "int16"),
          "i32": (c.c_int32, "int32"), "i64": (c.c_int64, "int64"), "u8": (c.c_uint8, "uint8"), "u16": (c.c_uint16, "uint16"),
          "u32": (c.c_uint32, "uint32"), "u64": (c.c_uint64, "uint64")}
_NEEDED, _ONES, _ZEROS, _COUNTING = range(4)
_BAD_SHAPE = -14


class Tensor:
    """An input or an output: name, type ("f32"), shape in words ("[batch, 3]")."""

    def __init__(self, t):
        self.name, self.type, self.shape = t.name.decode(), t.type.decode(), t.shape.decode()
        self.rank, self.usually = t.rank, t.usually
        self.ctype, self.dtype = _TYPES[self.type]

    def __repr__(self):
        return "%s: %s%s" % (self.name, self.type, self.shape)


def _tensors(name):
    n = c.c_int()
    list_ = _call(name, n)
    return [Tensor(list_[i]) for i in range(n.value)]


INPUTS, OUTPUTS = _tensors("inputs"), _tensors("outputs")


def _count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


class Model(_Model):
    """The network.

    model = Model()
    outputs = model.run({"pixel_values": array})         # INPUTS and OUTPUTS list names, types and shapes

    With numpy arrays go in and come out. Without it an input is (dims, numbers), an output (dims, list of numbers), the
    numbers of an f16 its bits. Inputs that are not given are what they usually are: masks ones, types of tokens zeros.
    """

    def __init__(self, threads: int = 0, cpu: str | None = None, dims: Sequence[int] | None = None):
        self._threads, self._cpu = threads, cpu.encode() if cpu else None
        self._reopen(dims)

    def _reopen(self, dims):
        self.close()
        flat = (c.c_int64 * max(len(dims), 1))(*dims) if dims else None
        self._open(_Options(self._threads, self._cpu, c.cast(flat, c.POINTER(c.c_int64)) if dims else None))

    @staticmethod
    def _given(t, value):
        if numpy is not None:
            array = numpy.ascontiguousarray(value, dtype=t.dtype)
            return list(array.shape), array, array.ctypes.data
        dims, numbers = value
        array = (t.ctype * max(_count(dims), 1))(*numbers)
        return list(dims), array, c.addressof(array)

    def _usual(self, t, given):
        for other in INPUTS:
            if other.name in given and other.shape == t.shape and t.usually != _NEEDED:
                dims = given[other.name][0]
                n, last = _count(dims), dims[-1] if dims else 1
                array = (t.ctype * max(n, 1))(*[{_ONES: 1, _ZEROS: 0}.get(t.usually, i % last) for i in range(n)])
                return dims, array, c.addressof(array)
        raise ValueError("the input %s is needed: %r" % (t.name, t))

    def run(self, inputs: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """The outputs by name, of inputs by name: a dictionary, or keywords."""
        inputs = dict(inputs or {}, **more)
        for name in set(inputs) - {t.name for t in INPUTS}:
            raise ValueError("there is no input %s, but %r" % (name, INPUTS))
        given = {t.name: self._given(t, inputs[t.name]) for t in INPUTS if t.name in inputs}
        values = [given[t.name] if t.name in given else self._usual(t, given) for t in INPUTS]
        for t, value in zip(INPUTS, values):
            if len(value[0]) != t.rank:
                raise ValueError("%s has %d axes, expected %r" % (t.name, len(value[0]), t))
        dims = [d for value in values for d in value[0]]
        return self._run(values, dims)

    def _run(self, values, dims):
        flat = (c.c_int64 * max(len(dims), 1))(*dims)
        shapes = (c.c_int64 * (8 * len(OUTPUTS) + 1))()
        _check(_call("shapes", flat, shapes))
        results, at = [], 0
        for t in OUTPUTS:
            shape = list(shapes[at:at + t.rank])
            at += t.rank
            results.append((shape, (t.ctype * max(_count(shape), 1))()))
        pointers = (c.c_void_p * max(len(values), 1))(*[v[2] for v in values])
        outputs = (c.c_void_p * max(len(results), 1))(*[c.addressof(r[1]) for r in results])
        status = _call("run", self._state, pointers, flat, outputs)
        if status == _BAD_SHAPE:  # larger than what it was opened for
            self._reopen(dims)
            status = _call("run", self._state, pointers, flat, outputs)
        _check(status)
        return {t.name: self._result(t, *r) for t, r in zip(OUTPUTS, results)}

    @staticmethod
    def _result(t, shape, array):
        n = _count(shape)
        if numpy is None:
            return shape, list(array[:n])
        return numpy.frombuffer(array, dtype=t.dtype, count=n).reshape(shape)
