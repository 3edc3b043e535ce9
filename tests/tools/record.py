#!/usr/bin/env python3
"""Records the values of a model's modules or nodes, for `burin check MODEL --against OUT.npz`.

usage: burin-record MODEL OUT.npz INPUT...

MODEL   a folder of transformers (needs torch, transformers) or an .onnx file (needs onnx, onnxruntime)
INPUT   1,2,3           token ids: of input_ids, the second time of decoder_input_ids
        NAME=1,2,3      integers of an input, in a batch of one
        NAME=F.npy      an input as numpy has saved it
        photo.jpg       a picture, by the model's processor (needs pillow)
        talk.wav        a recording, by the model's processor (needs soundfile)"""
import sys

try:
    import numpy
except ImportError:
    sys.exit("burin-record: numpy is missing\nhint: pip install numpy torch transformers, or numpy onnx onnxruntime")


def stop(text):
    sys.exit("burin-record: " + text)


def integers(text):
    try:
        return numpy.array([[int(word) for word in text.split(",")]], dtype=numpy.int64)
    except ValueError:
        stop(f"{text}: expected integers with commas, F.npy, or a .jpg, .png or .wav file")


def read_value(text):
    return numpy.load(text, allow_pickle=False) if text.endswith(".npy") else integers(text)


def read_file(path, model):
    import transformers
    if path.lower().endswith((".wav", ".flac")):
        import soundfile
        sound, rate = soundfile.read(path, dtype="float32")
        if sound.ndim > 1:
            sound = sound.mean(axis=1)
        given = transformers.AutoFeatureExtractor.from_pretrained(model)(sound, sampling_rate=rate, return_tensors="np")
    else:
        from PIL import Image
        given = transformers.AutoImageProcessor.from_pretrained(model)(Image.open(path).convert("RGB"), return_tensors="np")
    return {name: numpy.asarray(value) for name, value in given.items()}


def read_inputs(words, model):
    values, names = {}, ["input_ids", "decoder_input_ids"]
    for word in words:
        name, equals, text = word.partition("=")
        if equals:
            values[name] = read_value(text)
        elif word.lower().endswith((".jpg", ".jpeg", ".png", ".wav", ".flac")):
            values |= read_file(word, model)
        elif names:
            values[names.pop(0)] = integers(word)
        else:
            stop(f"{word}: a third list of ids; NAME={word} names its input")
    return values


def record_torch(path, values):
    import torch
    import transformers

    def hook_of(name):
        def hook(module, args, result):
            again = sum(k == name or k.startswith(name + "#") for k in values)
            key = f"{name}#{again}" if again else name
            given = result if torch.is_tensor(result) else next((r for r in result if torch.is_tensor(r)), None)
            for suffix, value in ("", given), (".input", args[0] if args else None):
                if torch.is_tensor(value) and value.is_floating_point():
                    values[key + suffix] = value.numpy()
        return hook

    config = transformers.AutoConfig.from_pretrained(path)
    model = getattr(transformers, config.architectures[0]).from_pretrained(path, dtype=torch.float32).eval()
    inputs = {name: torch.from_numpy(value) for name, value in values.items()}
    for name, module in model.named_modules():
        if name:
            module.register_forward_hook(hook_of(name))
    with torch.no_grad():
        result = model(**inputs, return_dict=True)
    values |= {name: value.numpy() for name, value in result.items() if torch.is_tensor(value)}


def record_onnx(path, values):
    import onnx
    import onnxruntime
    model = onnx.load(path)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for node in model.graph.node for name in node.output
                              if name and name not in {output.name for output in model.graph.output})
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    missing = [given.name for given in session.get_inputs() if given.name not in values]
    if missing:
        stop(f"the model has the inputs {', '.join(i.name + ' ' + str(i.shape) for i in session.get_inputs())}; "
             f"without a value: {', '.join(missing)}\nhint: {missing[0]}=F.npy")
    names = [output.name for output in session.get_outputs()]
    for name, value in zip(names, session.run(names, {given.name: values[given.name] for given in session.get_inputs()})):
        if isinstance(value, numpy.ndarray) and value.dtype.kind == "f":
            values[name] = value


def main():
    if len(sys.argv) < 4 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    path, out, *words = sys.argv[1:]
    values = read_inputs(words, path)
    try:
        (record_onnx if path.endswith(".onnx") else record_torch)(path, values)
    except ImportError as missing:
        stop(f"{missing}\nhint: pip install {'onnx onnxruntime' if path.endswith('.onnx') else 'torch transformers'}")
    numpy.savez(out, **values)
    print(f"{out}: {len(values)} values; burin check {path} --against {out}")
    return 0


sys.exit(main())
