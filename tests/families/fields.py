"""Which fields of config.json the reference reads: tests/families/fields.txt, from the sources of the installed transformers.

    python tests/families/fields.py [DESCRIPTION...] > tests/families/fields.txt

The installed transformers is 4.57; for descriptions of classes that only 5 has it is 5.24.

A field counts when the modeling file reads it (`config.X`, `getattr(config, "X")`, rotary embeddings and masks included), or when
the configuration class derives from it what the modeling file reads. One line a field: the description, the field, the default of
the configuration class as JSON ("-": computed, or none), "alias OF" for a name of attribute_map. Left out is what never changes the
numbers of inference (IGNORED, by kind). tests/families/fields.sh compares the descriptions with it."""

import ast
import fnmatch
import functools
import glob
import importlib
import inspect
import json
import os
import re
import sys

import transformers

TRAINING = """*dropout* *pdrop *layerdrop *_drop_rate drop_rate initializer_* *_initializer_range *init_std *init_std_* init_* mask_feature_* mask_time_*
    apply_spec_augment router_aux_loss_coef router_z_loss_coef input_jitter_noise output_router_logits z_loss
    label_smoothing gradient_checkpointing problem_type auxiliary_* bbox_* class_cost giou_* eos_coefficient use_mask_token
    drop_path_rate drop_connect_rate batch_norm_momentum logit_scale_init_value layerscale_value moe_jitter_eps moe_loss_weight semantic_loss_ignore_index *_loss_coefficient keys_to_ignore_at_inference add_router_probs sparse_prediction sparse_pred_ignore_index
    aux_loss_alpha seq_aux router_bias_update_speed router_ignore_padding_tokens add_zero_router_loss *w_init_variance_scale"""
CALLING = """return_dict use_return_dict output_attentions output_hidden_states use_cache torchscript _attn_implementation
    _attn_implementation_internal chunk_size_feed_forward pruned_heads is_encoder_decoder architectures name_or_path dtype torch_dtype
    pretraining_tp reorder_and_upcast_attn _experts_implementation loss_type output_past use_bfloat16 slow_but_exact
    reference_compile repad_logits_with_grad deterministic_flash_attn median_filter_width *_token_id *_token_index
    forced_* begin_suppress_tokens suppress_tokens max_length num_beams apply_forcing keep_* quantization_config
    _pre_quantization_dtype base_model_tp_plan base_model_pp_plan get_text_config to_dict *_bounds add_cross_attention is_decoder
    cross_attention_hidden_size use_cross_attention num_memory_blocks is_composition sub_configs attribute_map model_type
    use_weighted_layer_sum classifier_proj_size *alignment_heads lang_ids num_languages"""
HEADS = "num_clusters num_ctc_classes replace_prob diversity_loss_weight tdnn_* xvector_* *codevector* num_negatives contrastive_* out_indices pool_scales segmentation_indices use_auxiliary_head num_labels id2label label2id classifier_* summary_* num_choices start_n_top end_n_top ctc_* is_classification"
UNREACHED = "linear_attn_config n_ctx *_config_dict num_logits_to_keep mamba_chunk_size use_mamba_kernels model_parallel_size vq_config.*"   # taken by its parts; read and not used; put in place when config.json is read; how sums are grouped
IGNORED = (TRAINING + " " + CALLING + " " + HEADS + " " + UNREACHED).split()


@functools.cache
def source(path):
    with open(path) as f:
        return ast.parse(f.read())


def descriptions():
    for path in sorted(glob.glob("dsl/models/*.burin")):
        line = re.search(r"^model \S+ for (.*(?:\n\s+\".*)*)", open(path).read(), re.M)
        if line:
            yield os.path.basename(path)[: -len(".burin")], re.findall(r'"([^"]+)"', line.group(1))


def is_config(node):
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.endswith("config") and name not in ("generation_config", "quantization_config")


def strings(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


GUARDED = "?"   # before a name: read by getattr, so that a configuration may have it although its class does not declare it


def reads_of(tree):
    """X of config.X, getattr(config, "X") and config.X["Y"] (as X.Y) in a syntax tree."""
    found = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.Attribute) and is_config(n.value) and isinstance(n.ctx, ast.Load):
            found.add(n.attr)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("getattr", "hasattr") and len(n.args) > 1:
            if is_config(n.args[0]) and strings(n.args[1]):
                found |= {strings(n.args[1]), GUARDED + strings(n.args[1])}
        key = None
        if isinstance(n, ast.Subscript):
            of, key = n.value, strings(n.slice)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "get" and n.args:
            of, key = n.func.value, strings(n.args[0])
        if key and isinstance(of, ast.Attribute) and is_config(of.value):
            found.add(of.attr + "." + key)
    return found


def classes_in(tree):
    """Classes, functions, and tables of classes (LLAMA_ATTENTION_CLASSES = {...}) of a file."""
    found = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    tables = (n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name))
    return found | {n.targets[0].id: n for n in tables}


def used_names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def imported(tree, module):
    """name -> module, of the modeling files and helpers that a modeling file takes names from."""
    found = {}
    for n in ast.walk(tree):
        if isinstance(n, ast.ImportFrom) and n.module and n.level:
            base = module.split(".")[: -n.level]
            for a in n.names:
                found[a.asname or a.name] = (".".join(base + n.module.split(".")), a.name)
    return found


HELPERS = ("modeling_rope_utils", "masking_utils", "modeling_layers")


def reachable(module, name, seen):
    """What a class reads, with the classes and functions that it uses, in its module and in the modeling files it imports from."""
    if (module, name) in seen:
        return set()
    seen.add((module, name))
    try:
        tree = source(importlib.import_module(module).__file__)
    except (ImportError, SyntaxError):
        return set()
    node = classes_in(tree).get(name)
    if node is None:
        return set()
    found, near, far = reads_of(node), classes_in(tree), imported(tree, module)
    for used in used_names(node):
        if used in near:
            found |= reachable(module, used, seen)
        elif used in far and "modeling_" in far[used][0] and "modeling_utils" not in far[used][0]:
            where, what = far[used]
            if what == "ROPE_INIT_FUNCTIONS":
                found |= reads_of(source(importlib.import_module(where).__file__))
            else:
                found |= reachable(where, what, seen)
        elif used in far and far[used][0].endswith("masking_utils"):
            found |= {"sliding_window", "attention_chunk_size"} if "sliding" in used or "chunked" in used else set()
    return found


def self_attribute(n):
    return n.attr if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self" else None


def flows(config_class):
    """name -> the attributes of the configuration that depend on it, directly."""
    edges, kwargs = {}, set()
    for c in config_class.__mro__:
        if c.__name__ == "PretrainedConfig" or not c.__module__.startswith("transformers.models"):
            continue
        tree = source(inspect.getsourcefile(c))
        node = classes_in(tree).get(c.__name__)
        for f in node.body if node else []:
            if isinstance(f, ast.FunctionDef):
                follow(f.body, set(), edges, kwargs)
    return edges, kwargs


def mentions(node, kwargs):
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {self_attribute(n) for n in ast.walk(node)}
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("pop", "get") and n.args:
            if isinstance(n.func.value, ast.Name) and n.func.value.id == "kwargs" and strings(n.args[0]):
                found.add(strings(n.args[0]))
                kwargs.add(strings(n.args[0]))
        if isinstance(n, ast.Compare) and strings(n.left) and isinstance(n.comparators[0], ast.Name) and n.comparators[0].id == "kwargs":
            found.add(strings(n.left))
            kwargs.add(strings(n.left))
    return found - {None, "self", "kwargs"}


def follow(statements, around, edges, kwargs):
    for s in statements:
        if isinstance(s, (ast.If, ast.For, ast.While)):
            test = s.test if not isinstance(s, ast.For) else s.iter
            inner = around | mentions(test, kwargs)
            follow(s.body, inner, edges, kwargs)
            follow(s.orelse, inner, edges, kwargs)
        elif isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and s.value is not None:
            given = around | mentions(s.value, kwargs)
            for t in s.targets if isinstance(s, ast.Assign) else [s.target]:
                for x in ast.walk(t):
                    to = self_attribute(x) or (x.id if isinstance(x, ast.Name) and x.id != "self" else None)
                    for g in given - {to} if to else []:
                        edges.setdefault(g, set()).add(to)
        elif isinstance(s, ast.Return) and s.value is not None:
            mentions(s.value, kwargs)


def matters(name, edges, read):
    """Does an attribute that the model reads depend on the name?"""
    seen, left = {name}, [name]
    while left:
        new = edges.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return bool(seen & read)


def is_ignored(name):
    return any(fnmatch.fnmatchcase(name.split(".")[-1], p) or fnmatch.fnmatchcase(name, p) for p in IGNORED)


def default_text(parameter):
    value = parameter.default if parameter is not None else inspect.Parameter.empty
    if value is inspect.Parameter.empty or isinstance(value, (list, tuple, dict)) or callable(value):
        return "-"
    return json.dumps(value)


def fields_of_config(config_class, read, prefix=""):
    edges, kwargs = flows(config_class)
    parameters = dict(inspect.signature(config_class.__init__).parameters)
    for c in ("self", "kwargs"):
        parameters.pop(c, None)
    map_ = config_class.attribute_map
    names = {p for p in set(parameters) | kwargs if matters(p, edges, read) or p in {k for k, v in map_.items() if matters(k, edges, read)}}
    names |= {map_.get(r, r) for r in read if map_.get(r, r) in parameters}
    names |= {r for r in read if "." in r and r.split(".")[0] in parameters}
    table = {prefix + n: default_text(parameters.get(n)) for n in names if not is_ignored(n)}
    for alias, name in map_.items():
        if prefix + name in table:
            table[prefix + alias] = "alias " + name
    return table


def rotary_base(names):
    """The base of the rotary embedding where config.json has none, of a class of transformers 5 with one for all layers; else "-"."""
    found = set()
    for name in names:
        rotary = getattr(getattr(transformers, name).config_class(), "rope_parameters", None) or {}
        found.add(rotary.get("rope_theta"))
    return json.dumps(found.pop()) if len(found) == 1 and None not in found else "-"


BASE = {"tie_word_embeddings": "true"}


def merge(table, more):
    """Of several classes: a default that is not the same in all is none."""
    for field, default in more.items():
        table[field] = default if table.get(field, default) == default else "-"


def fields(names):
    table = {}
    for name in names:
        model = getattr(transformers, name)
        read = reachable(model.__module__, model.__name__, set())
        # A task's head reads fields of its own: those of every class beside this one that has the same base.
        heads = []
        for other in classes_in(source(inspect.getsourcefile(model))):
            if re.search(r"(For[A-Z]\w+|LMHeadModel)$", other) and not other.endswith("Output"):
                k = getattr(importlib.import_module(model.__module__), other)
                if getattr(k, "config_class", None) is model.config_class:
                    read |= reachable(model.__module__, other, set())
                    heads.append(k)
        merge(table, fields_of_config(model.config_class, read))
        if any(getattr(k, "_tied_weights_keys", None) for k in [model] + heads):
            merge(table, {"tie_word_embeddings": json.dumps(getattr(model.config_class(), "tie_word_embeddings", None))})
        for nested, c in getattr(model.config_class, "sub_configs", {}).items():
            if inspect.isclass(c):
                table.pop(nested, None)
                if hasattr(c, "attribute_map"):              # else any configuration: that of a backbone
                    merge(table, fields_of_config(c, read, nested + "."))
    return table


def main(wanted):
    for description, names in descriptions():
        names = [name for name in names if hasattr(transformers, name)]   # others' code is not there to read
        if not names or (wanted and description not in wanted):
            continue
        for field, default in sorted(fields(names).items()):
            if field in ("rope_parameters", "per_layer_config"):        # which the reader of checkpoints takes apart
                continue
            if field in ("rope_theta", "rope_parameters.rope_theta") and default == "-":
                default = rotary_base(names)
            for part in ("rope_theta", "partial_rotary_factor"):
                field = field.replace(f"rope_parameters.{part}", part)
            field = field.replace("rope_parameters.", "rope_scaling.")
            print(description, field, default)


if __name__ == "__main__":
    main(sys.argv[1:])
