"""Makes onnx_texts.tar.xz: encoders of texts as ONNX exports of both kinds. mood, names, nli are those of heads.tar.xz (and what
transformers says of their texts is there); pooled and states are sentence encoders, whose embeddings PyTorch computes."""
import os, shutil, sys, tarfile, tempfile
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

here, out = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
heads = tempfile.mkdtemp()
tarfile.open(f"{here}/heads.tar.xz").extractall(heads, filter="data")


class Sentence(torch.nn.Module):
    def __init__(self, model, pooled):
        super().__init__()
        self.model, self.pooled = model, pooled

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        states = self.model(input_ids, attention_mask, token_type_ids).last_hidden_state
        if not self.pooled:
            return states
        mask = attention_mask.unsqueeze(-1).expand(states.size()).float()
        return states, torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1e-9), p=2, dim=1)


class Head(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        return self.model(input_ids, attention_mask, token_type_ids).logits


def export(name, source, model, results, dynamo, types):
    folder, inputs = f"{out}/{name}", ["input_ids", "attention_mask"] + ["token_type_ids"] * types
    os.makedirs(folder)
    rows = [[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]], [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
    arguments = tuple(torch.tensor(x) for x in rows[:len(inputs)])
    options = {"input_names": inputs, "output_names": list(results), "dynamo": dynamo}
    if dynamo:
        free = torch.export.Dim.DYNAMIC
        options |= {"dynamic_shapes": tuple({0: free, 1: free} for _ in inputs), "external_data": False}
    else:
        axes = {i: {0: "batch_size", 1: "sequence_length"} for i in inputs}
        options |= {"dynamic_axes": axes | results, "opset_version": 17}
    torch.onnx.export(model.eval(), arguments, f"{folder}/model.onnx", **options)
    for file in ["config.json", "tokenizer.json", "tokenizer_config.json"]:
        shutil.copy(f"{source}/{file}", folder)
    return folder


def write_embeddings(folder, tokenizer, model, texts):
    model.eval()  # the exporter leaves it in training
    with torch.no_grad(), open(f"{folder}/expected", "w") as f, open(f"{folder}/texts", "w") as lines:
        for x in texts:
            e = tokenizer(x, return_tensors="pt")
            lines.write(x + "\n")
            f.write(" ".join(f"{v:.6f}" for v in model(e["input_ids"], e["attention_mask"])[1][0]) + "\n")


rows, one = {0: "batch_size", 1: "sequence_length"}, {0: "batch_size"}
texts = ["Anna lives in Paris", "a cat", "the cat sat on the mat , and is very good", "", "who is not good ?"]
for name, kind, result, dynamo, types in [("mood", AutoModelForSequenceClassification, one, False, 1),
                                          ("nli", AutoModelForSequenceClassification, one, True, 0),
                                          ("names", AutoModelForTokenClassification, rows, False, 1)]:
    source = f"{heads}/{name}"
    folder = export(name, source, Head(kind.from_pretrained(source, attn_implementation="eager" if dynamo else "sdpa")),
                    {"logits": result}, dynamo, types)
    for file in ["texts", "expected"]:
        shutil.copy(f"{source}/{file}", folder)
source = f"{heads}/mask"
tokenizer = AutoTokenizer.from_pretrained(source)
bert = AutoModel.from_pretrained(source, attn_implementation="sdpa", add_pooling_layer=False)
folder = export("pooled", source, Sentence(bert, True), {"token_embeddings": rows, "sentence_embedding": one}, True, 1)
write_embeddings(folder, tokenizer, Sentence(bert, True), texts)
bert = AutoModel.from_pretrained(source, attn_implementation="eager", add_pooling_layer=False)
folder = export("states", source, Sentence(bert, False), {"last_hidden_state": rows}, False, 1)
write_embeddings(folder, tokenizer, Sentence(bert, True), texts)
