"""Milliseconds of a run of an ONNX file by ONNX Runtime: networks.py FILE THREADS [NAME=SIZE...]; the median of many."""
import statistics
import sys
import time

import numpy as np
import onnxruntime

path, threads, sizes = sys.argv[1], int(sys.argv[2]), dict(a.split("=") for a in sys.argv[3:])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
random = np.random.default_rng(0)
kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
feeds = {}
for value in session.get_inputs():
    shape = [d if isinstance(d, int) else int(sizes.get(d, 1)) for d in value.shape]
    feeds[value.name] = random.standard_normal(shape).astype(kinds[value.type])
session.run(None, feeds)
times, end = [], time.perf_counter() + 1
while len(times) < 5 or time.perf_counter() < end:
    begin = time.perf_counter()
    session.run(None, feeds)
    times.append(time.perf_counter() - begin)
print(1000 * statistics.median(times))
