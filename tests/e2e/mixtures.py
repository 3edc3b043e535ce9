#!/usr/bin/env python3
# Makes tests/e2e/mixtures.tar.xz: mixtures of experts as exporters write them, with ONNX Runtime's logits: NAME.onnx, NAME.npy.
# Models are transformers' (4.57), whose block of experts is replaced by the forms that optimum's patches, transformers 5 and others'
# code have; tokens are TOKENS. The test needs none of these packages. usage: mixtures.py OUT.tar.xz
import os, sys, tarfile, tempfile, types
import numpy, onnx, onnxruntime, torch
import torch.nn.functional as F
import transformers as tf
from onnx import TensorProto, helper, numpy_helper

TOKENS = [5, 17, 30, 2, 30, 11, 7, 23, 9]
SIZES = dict(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, use_cache=False,
             max_position_embeddings=64, intermediate_size=24, attn_implementation="eager", initializer_range=0.3)


def qwen3():
    return tf.Qwen3MoeForCausalLM(tf.Qwen3MoeConfig(**SIZES, head_dim=8, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=3))


def mixtral():
    return tf.MixtralForCausalLM(tf.MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2))


def deepseek():
    model = tf.DeepseekV3ForCausalLM(tf.DeepseekV3Config(
        **SIZES, moe_intermediate_size=16, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=1, n_group=4, topk_group=2,
        first_k_dense_replace=0, q_lora_rank=8, kv_lora_rank=8, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=8))
    for name, buffer in model.named_buffers():
        if "e_score" in name:
            buffer.copy_(torch.randn_like(buffer) * 0.01)
    return model


def causal(config, input_embeds, **_):
    """Masks without vmap, which TorchScript does not export."""
    return torch.full((input_embeds.shape[1],) * 2, -3.4e38).triu(1)[None, None]


def route(self, x):
    shares, index = torch.topk(F.softmax(self.gate(x), dim=1, dtype=torch.float), self.top_k, dim=-1)
    return shares / shares.sum(-1, keepdim=True), index


# ---- blocks: (self, rows [T, N]) to [T, N]
def loop(self, x):
    """optimum: each expert takes its rows."""
    shares, index = route(self, x)
    out = torch.zeros_like(x)
    mask = F.one_hot(index, num_classes=self.num_experts).permute(2, 1, 0)
    for e in range(self.num_experts):
        slot, row = torch.where(mask[e])
        out.index_add_(0, row, self.experts[e](x[None, row].reshape(-1, x.shape[1])) * shares[row, slot, None])
    return out


def marks(self, x):
    """Every expert, times what marks of one leave."""
    shares, index = route(self, x)
    out = torch.zeros_like(x)
    for e in range(self.num_experts):
        out = out + self.experts[e](x) * ((index == e) * shares).sum(-1, keepdim=True)
    return out


def one_hot(self, x):
    shares, index = route(self, x)
    table = (F.one_hot(index, num_classes=self.num_experts).to(x.dtype) * shares[..., None]).sum(1)
    return sum(self.experts[e](x) * table[:, e : e + 1] for e in range(self.num_experts))


def odd(self, x):
    """One expert is another formula."""
    shares, index = route(self, x)
    table = (F.one_hot(index, num_classes=self.num_experts).to(x.dtype) * shares[..., None]).sum(1)
    return sum((torch.tanh(e(x)) if i == 1 else e(x)) * table[:, i : i + 1] for i, e in enumerate(self.experts))


def lookup(self, x, add=False):
    """transformers 5's batched_mm: matrices are gathered for rows T k."""
    shares, index = route(self, x)
    row = torch.arange(x.shape[0]).unsqueeze(1).expand(-1, self.top_k).reshape(-1)
    expert = index.reshape(-1)
    gate, up = torch.bmm(self.gate_up[expert], x[row].unsqueeze(-1)).squeeze(-1).chunk(2, dim=-1)
    y = torch.bmm(self.down[expert], (F.silu(gate) * up).unsqueeze(-1)).squeeze(-1) * shares.reshape(-1, 1)
    return torch.zeros_like(x).index_add(0, row, y) if add else y.view(x.shape[0], self.top_k, -1).sum(1)


def lookup_add(self, x):
    return lookup(self, x, True)


def lookup_einsum(self, x):
    shares, index = route(self, x)
    gate, up = torch.einsum("td,tkfd->tkf", x, self.gate_up[index]).chunk(2, dim=-1)
    return torch.einsum("tkd,tk->td", torch.einsum("tkf,tkdf->tkd", F.silu(gate) * up, self.down[index]), shares)


def table_of(self, x):
    shares, index = route(self, x)
    return torch.zeros(x.shape[0], self.num_experts).scatter(1, index, shares)


def stack(self, x):
    """gpt-oss: all rows for all experts, then the table of shares."""
    table = table_of(self, x)
    rows = x.repeat(self.num_experts, 1).view(self.num_experts, -1, x.shape[1])
    gate, up = torch.bmm(rows, self.gate_up.transpose(1, 2)).chunk(2, dim=-1)
    y = torch.bmm(F.silu(gate) * up, self.down.transpose(1, 2))
    return (y * table.transpose(0, 1)[..., None]).sum(0)


def stack_einsum(self, x):
    table = table_of(self, x)
    gate, up = torch.einsum("td,efd->tef", x, self.gate_up).chunk(2, dim=-1)
    return torch.einsum("ted,te->td", torch.einsum("tef,edf->ted", F.silu(gate) * up, self.down), table)


def deepseek_loop(self, x, index, shares):
    out = torch.zeros_like(x)
    mask = F.one_hot(index, num_classes=len(self.experts)).permute(2, 0, 1)
    for e in range(len(self.experts)):
        row, slot = torch.where(mask[e])
        out.index_add_(0, row, self.experts[e](x[row]) * shares[row, slot].unsqueeze(-1))
    return out


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids, use_cache=False).logits


def with_block(model, block):
    for m in model.modules():
        if "SparseMoeBlock" in type(m).__name__ and block:
            gate, up, down = ("gate_proj", "up_proj", "down_proj") if hasattr(m.experts[0], "up_proj") else ("w1", "w3", "w2")
            if block in (lookup, lookup_add, lookup_einsum, stack, stack_einsum):
                m.gate_up = torch.nn.Parameter(torch.stack([torch.cat([getattr(e, gate).weight, getattr(e, up).weight]) for e in m.experts]))
                m.down = torch.nn.Parameter(torch.stack([getattr(e, down).weight for e in m.experts]))
            m.forward = types.MethodType(lambda self, h: (block(self, h.view(-1, h.shape[-1])).view(h.shape), None), m)
        if type(m).__name__ == "DeepseekV3MoE" and block:
            m.moe = types.MethodType(block, m)
    return Logits(model).eval()


def export(file, model, dynamo):
    names = dict(input_names=["input_ids"], output_names=["logits"])
    ids = torch.arange(64)[None] % 32  # enough for each expert to be chosen: TorchScript traces
    if dynamo:
        length = {"input_ids": {1: torch.export.Dim("sequence_length", max=64)}}
        torch.onnx.export(model, (ids,), file, dynamo=True, dynamic_shapes=length, external_data=False, verbose=False, **names)
    else:
        axes = {name: {0: "batch_size", 1: "sequence_length"} for name in ("input_ids", "logits")}
        torch.onnx.export(model, (ids,), file, dynamo=False, opset_version=18, dynamic_axes=axes, **names)
    found = onnx.load(file)
    for part in [found, found.graph, *found.graph.node, *found.graph.value_info, *found.graph.input, *found.graph.output, *found.graph.initializer]:
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(found, file)


def operator(file, name, weights, **attributes):
    """One of com.microsoft between an embedding and a head."""
    rng = numpy.random.default_rng(5)
    table, router, head = (rng.normal(size=s).astype(numpy.float32) for s in ((32, 16), (16, 6), (16, 32)))
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["x"]), helper.make_node("Reshape", ["x", "rows"], ["flat"]),
             helper.make_node("MatMul", ["flat", "router"], ["scores"]),
             helper.make_node(name, ["x", "scores", *weights], ["y"], domain="com.microsoft", k=2, **attributes),
             helper.make_node("Add", ["x", "y"], ["z"]), helper.make_node("MatMul", ["z", "head"], ["logits"])]
    tensors = {"table": table, "rows": numpy.array([-1, 16]), "router": router, "head": head, **{n: w for n, w in weights.items() if n}}
    shape = ["batch_size", "sequence_length"]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*shape, 32])],
                              [numpy_helper.from_array(w, n) for n, w in tensors.items()])
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]), file)


def operators():
    rng = numpy.random.default_rng(6)
    floats = lambda *s: (rng.normal(size=s) * 0.3).astype(numpy.float32)
    bits = lambda *s: rng.integers(0, 256, size=s).astype(numpy.uint8)
    plain = {"w1": floats(6, 32, 16), "b1": floats(6, 32), "w2": floats(6, 16, 16), "b2": floats(6, 16)}
    yield "moe", "MoE", plain, dict(activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=1)
    yield "moe-relu", "MoE", {**plain, "w2": floats(6, 16, 32)}, dict(activation_type="relu")
    scaled = {"w1": bits(6, 32, 8), "s1": abs(floats(6, 32)) * 0.1, "": None, "w2": bits(6, 16, 8), "s2": abs(floats(6, 16)) * 0.1}
    yield "qmoe", "QMoE", scaled, dict(activation_type="swiglu", swiglu_fusion=1, expert_weight_bits=4, normalize_routing_weights=1)


TORCH = {"loop-scr": (qwen3, loop, False), "loop-dyn": (qwen3, loop, True), "deepseek-own-scr": (deepseek, None, False),
         "deepseek-dyn": (deepseek, deepseek_loop, True), "marks-scr": (qwen3, marks, False), "marks-dyn": (qwen3, marks, True),
         "one-hot-scr": (mixtral, one_hot, False), "odd-scr": (mixtral, odd, False), "lookup-scr": (qwen3, lookup, False),
         "lookup-dyn": (qwen3, lookup, True), "lookup-add-dyn": (mixtral, lookup_add, True),
         "lookup-einsum-scr": (qwen3, lookup_einsum, False), "stack-scr": (qwen3, stack, False), "stack-dyn": (qwen3, stack, True),
         "stack-einsum-dyn": (mixtral, stack_einsum, True)}


def main(out):
    torch.set_grad_enabled(False)
    for name in ("qwen3_moe", "mixtral", "deepseek_v3"):
        module = __import__(f"transformers.models.{name}.modeling_{name}", fromlist=["x"])
        module.create_causal_mask = module.create_sliding_window_causal_mask = causal
    with tempfile.TemporaryDirectory() as folder, tarfile.open(out, "w:xz") as tar:
        def keep(name, batch=0):
            session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx")
            numpy.save(f"{folder}/{name}.npy", session.run(None, {"input_ids": numpy.array([TOKENS])})[0][batch])
            for end in ("onnx", "npy"):
                tar.add(f"{folder}/{name}.{end}", f"{name}.{end}")
        for name, (make, block, dynamo) in TORCH.items():
            torch.manual_seed(3)
            export(f"{folder}/{name}.onnx", with_block(make(), block), dynamo)
            keep(name)
        for name, kind, weights, attributes in operators():
            operator(f"{folder}/{name}.onnx", kind, weights, **attributes)
            keep(name, slice(None))
        numpy.save(f"{folder}/tokens.npy", numpy.array([TOKENS]))
        tar.add(f"{folder}/tokens.npy", "tokens.npy")


if __name__ == "__main__":
    main(sys.argv[1])
