"""Makes tests/e2e/eyes.tar.xz: tiny models of texts and pictures with transformers' numbers.

    python tests/e2e/eyes.py [NAME...]      needs torch, transformers 5.24, tokenizers and pillow; neither the build nor make test needs it

NAME/ has config.json, the processor and tokenizer as transformers saves them, `tensors` (weights are a formula: tests/families),
and for each case of CASES answerN.txt (greedy), logitsN.npy (of the prompt's last 4 tokens) and tokensN (how many those are). With
names the others of the archive stay.
"""
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from PIL import Image, ImageOps
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "families"))
from generate import fill_file                                                            # noqa: E402

ARCHIVE = pathlib.Path(os.environ.get("ARCHIVE", HERE / "eyes.tar.xz"))
TEXT = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
            max_position_embeddings=1024, bos_token_id=1, eos_token_id=2, pad_token_id=0, tie_word_embeddings=False)
VISION = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=4)
PARTS = ("{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}"
         "{% for p in m['content'] %}{% if p['type'] == 'image' %}MARK{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}"
         "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
CASES = [(["wide.png"], "What is this?"), (["wide.png", "small.png"], "the same?")]
N_ANSWER = 12


def tokenizer_with(specials, mark, **more):
    vocab = {t: i for i, t in enumerate(["<pad>", "<s>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>"] + specials)}
    special = list(vocab)
    merges = [("h", "e"), ("t", "he"), ("i", "n"), ("a", "n"), ("Ċ", "Ċ"), ("Ġ", "the"), ("Ġ", "a"), ("i", "s")]
    for byte in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocab[byte] = len(vocab)
    for a, b in merges:
        vocab[a + b] = len(vocab)
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=t, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        chat_template=PARTS.replace("MARK", mark), **more)


def pil(family, name, **settings):
    module = importlib.import_module(f"transformers.models.{family}.image_processing_pil_{family}")
    return getattr(module, name + "ImageProcessorPil")(**settings)


def grid_tokens(rows, columns, form="<row_{}_col_{}>"):
    return [form.format(r, c) for r in range(1, rows + 1) for c in range(1, columns + 1)]


def idefics3():
    t = tokenizer_with(["<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>"] + grid_tokens(6, 6), "<image>")
    pictures = pil("idefics3", "Idefics3", size={"longest_edge": 64}, max_image_size={"longest_edge": 16})
    processor = transformers.Idefics3Processor(pictures, t, image_seq_len=4, chat_template=t.chat_template)
    config = transformers.Idefics3Config(
        text_config=dict(TEXT, model_type="llama", vocab_size=len(t)), vision_config=dict(VISION), scale_factor=2,
        image_token_id=t.convert_tokens_to_ids("<image>"), tie_word_embeddings=False, pad_token_id=0)
    return transformers.Idefics3ForConditionalGeneration(config), processor


def llava():
    t = tokenizer_with(["<image>"], "<image>\n")
    pictures = pil("clip", "CLIP", size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    processor = transformers.LlavaProcessor(pictures, t, patch_size=4, vision_feature_select_strategy="default",
                                            num_additional_image_tokens=1, chat_template=t.chat_template)
    config = transformers.LlavaConfig(
        text_config=dict(TEXT, model_type="llama", vocab_size=len(t)),
        vision_config=dict(VISION, model_type="clip_vision_model", num_hidden_layers=3), image_token_id=t.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2, vision_feature_select_strategy="default", tie_word_embeddings=False)
    return transformers.LlavaForConditionalGeneration(config), processor


def llava_next():
    t = tokenizer_with(["<image>"], "<image>")
    sizes = [[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]
    pictures = pil("llava_next", "LlavaNext", size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}, image_grid_pinpoints=sizes)
    processor = transformers.LlavaNextProcessor(pictures, t, patch_size=4, vision_feature_select_strategy="default",
                                                num_additional_image_tokens=1, chat_template=t.chat_template)
    config = transformers.LlavaNextConfig(
        text_config=dict(TEXT, model_type="mistral", vocab_size=len(t)),
        vision_config=dict(VISION, model_type="clip_vision_model", num_hidden_layers=3), image_token_index=t.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2, vision_feature_select_strategy="default", tie_word_embeddings=False, image_grid_pinpoints=sizes)
    return transformers.LlavaNextForConditionalGeneration(config), processor


def llava_siglip():
    t = tokenizer_with(["<image>"], "<image>")
    pictures = pil("siglip", "Siglip", size={"height": 16, "width": 16})
    processor = transformers.LlavaProcessor(pictures, t, patch_size=4, vision_feature_select_strategy="full",
                                            num_additional_image_tokens=0, chat_template=t.chat_template)
    config = transformers.LlavaConfig(
        text_config=dict(TEXT, model_type="qwen2", vocab_size=len(t)),
        vision_config=dict(VISION, model_type="siglip_vision_model", num_hidden_layers=3), image_token_id=t.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2, vision_feature_select_strategy="full", tie_word_embeddings=False)
    return transformers.LlavaForConditionalGeneration(config), processor


def internvl():
    special = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>",
               "video_token": "<video>"}
    t = tokenizer_with(list(special.values()), "<IMG_CONTEXT>", extra_special_tokens=special)
    pictures = pil("got_ocr2", "GotOcr2", size={"height": 16, "width": 16}, crop_to_patches=True, max_patches=6)
    transformers.ProcessorMixin.check_argument_for_proper_class = lambda *_: None         # videos need torchvision
    processor = transformers.InternVLProcessor(pictures, t, video_processor=None, image_seq_length=4, chat_template=t.chat_template)
    config = transformers.InternVLConfig(
        text_config=dict(TEXT, model_type="qwen2", vocab_size=len(t)), vision_config=dict(VISION, attention_bias=True, use_qk_norm=True),
        image_token_id=t.convert_tokens_to_ids("<IMG_CONTEXT>"), image_seq_length=4, tie_word_embeddings=False)
    return transformers.InternVLForConditionalGeneration(config), processor


def gemma3():
    special = {"boi_token": "<start_of_image>", "image_token": "<image_soft_token>", "eoi_token": "<end_of_image>"}
    t = tokenizer_with(list(special.values()), "<start_of_image>", extra_special_tokens=special)
    pictures = pil("gemma3", "Gemma3", size={"height": 24, "width": 24})
    processor = transformers.Gemma3Processor(pictures, t, image_seq_length=9, chat_template=t.chat_template)
    config = transformers.Gemma3Config(
        text_config=dict(TEXT, model_type="gemma3_text", vocab_size=len(t), num_hidden_layers=6, query_pre_attn_scalar=16, sliding_window=40,
                         tie_word_embeddings=True),
        vision_config=dict(VISION, model_type="siglip_vision_model", image_size=24), mm_tokens_per_image=9,
        boi_token_index=t.convert_tokens_to_ids("<start_of_image>"), eoi_token_index=t.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=t.convert_tokens_to_ids("<image_soft_token>"))
    return transformers.Gemma3ForConditionalGeneration(config), processor


def qwen_processor(kind, specials_extra=(), patch=4, merge=2, low=64, high=4096):
    specials = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"] + list(specials_extra)
    t = tokenizer_with(specials, "<|vision_start|><|image_pad|><|vision_end|>")
    pictures = pil("qwen2_vl", "Qwen2VL", size={"shortest_edge": low, "longest_edge": high}, patch_size=patch, merge_size=merge)
    transformers.ProcessorMixin.check_argument_for_proper_class = lambda *_: None         # videos need torchvision
    return getattr(transformers, kind + "Processor")(pictures, t, video_processor=None, chat_template=t.chat_template), t


def qwen_text(t, section, **more):
    return dict(TEXT, vocab_size=len(t), head_dim=16, rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                "mrope_section": section, **more})


def qwen_ids(t):
    return dict(image_token_id=t.convert_tokens_to_ids("<|image_pad|>"), video_token_id=t.convert_tokens_to_ids("<|video_pad|>"),
                vision_start_token_id=t.convert_tokens_to_ids("<|vision_start|>"),
                vision_end_token_id=t.convert_tokens_to_ids("<|vision_end|>"), tie_word_embeddings=False)


def qwen2_vl():
    processor, t = qwen_processor("Qwen2VL")
    config = transformers.Qwen2VLConfig(
        text_config=qwen_text(t, [2, 3, 3]),
        vision_config=dict(depth=2, embed_dim=32, hidden_size=32, num_heads=2, patch_size=4, mlp_ratio=2), **qwen_ids(t))
    return transformers.Qwen2VLForConditionalGeneration(config), processor


def qwen2_5_vl(window=16):
    processor, t = qwen_processor("Qwen2_5_VL")
    config = transformers.Qwen2_5_VLConfig(
        text_config=qwen_text(t, [2, 3, 3]),
        vision_config=dict(depth=3, hidden_size=32, intermediate_size=40, out_hidden_size=32, num_heads=2, patch_size=4, window_size=window,
                           fullatt_block_indexes=[1]), **qwen_ids(t))
    return transformers.Qwen2_5_VLForConditionalGeneration(config), processor


def qwen3_vl():
    processor, t = qwen_processor("Qwen3VL")
    config = transformers.Qwen3VLConfig(
        text_config=qwen_text(t, [4, 2, 2], mrope_interleaved=True),
        vision_config=dict(depth=3, hidden_size=32, intermediate_size=40, out_hidden_size=32, num_heads=2, patch_size=4,
                           num_position_embeddings=36, deepstack_visual_indexes=[0, 1]), **qwen_ids(t))
    return transformers.Qwen3VLForConditionalGeneration(config), processor


def qwen3_5():
    processor, t = qwen_processor("Qwen3VL")
    text = qwen_text(t, [2, 1, 1], mrope_interleaved=True, partial_rotary_factor=0.5)
    text |= dict(num_hidden_layers=4, linear_key_head_dim=8, linear_value_head_dim=8, linear_num_key_heads=2, linear_num_value_heads=4)
    vision = dict(depth=2, hidden_size=32, intermediate_size=40, out_hidden_size=32, num_heads=2, patch_size=4, num_position_embeddings=36)
    config = transformers.Qwen3_5Config(text_config=text, vision_config=vision, **qwen_ids(t))
    return transformers.Qwen3_5ForConditionalGeneration(config), processor


def lighton_ocr():
    names = {"image_token": "<|image_pad|>", "image_break_token": "<|vision_pad|>", "image_end_token": "<|vision_end|>"}
    t = tokenizer_with(list(names.values()), "<|image_pad|>", extra_special_tokens=names)
    pictures = pixtral_pictures(patch=8)
    kind = importlib.import_module("transformers.models.lighton_ocr.processing_lighton_ocr").LightOnOcrProcessor
    processor = kind(pictures, t, patch_size=4, spatial_merge_size=2, chat_template=t.chat_template)
    config = transformers.LightOnOcrConfig(text_config=dict(TEXT, model_type="qwen3", vocab_size=len(t)), vision_config=PIXTRAL_VISION,
                                           image_token_id=t.convert_tokens_to_ids("<|image_pad|>"), tie_word_embeddings=True)
    return transformers.LightOnOcrForConditionalGeneration(config), processor


PIXTRAL_VISION = dict(model_type="pixtral", hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=32,
                      patch_size=4)


def pixtral_pictures(patch=4):
    name = "transformers.models.pixtral."                                                 # the other one needs torchvision
    sys.modules[name + "image_processing_pixtral"] = importlib.import_module(name + "image_processing_pil_pixtral")
    return pil("pixtral", "Pixtral", size={"longest_edge": 32}, patch_size=patch)


def gemma4(clipped=True):
    names = {"boi_token": "<|image>", "image_token": "<|image|>", "eoi_token": "<image|>", "video_token": "<|video|>", "audio_token": "<|audio|>",
             "boa_token": "<|audio>", "eoa_token": "<audio|>"}
    t = tokenizer_with(list(names.values()), "<|image|>", extra_special_tokens=names)
    pictures = pil("gemma4", "Gemma4", patch_size=4, pooling_kernel_size=3, max_soft_tokens=70)
    transformers.ProcessorMixin.check_argument_for_proper_class = lambda *_: None         # videos need torchvision
    processor = transformers.Gemma4Processor(None, pictures, t, None, chat_template=t.chat_template)
    text = dict(TEXT, vocab_size=len(t), vocab_size_per_layer_input=len(t), num_hidden_layers=6, hidden_size_per_layer_input=8, num_kv_shared_layers=0,
                global_head_dim=32, sliding_window=40, final_logit_softcapping=30.0, tie_word_embeddings=True)
    vision = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, head_dim=16, patch_size=4,
                  pooling_kernel_size=3, position_embedding_size=80, use_clipped_linears=clipped, standardize=True)
    ids = {k + "_id": t.convert_tokens_to_ids(v) for k, v in names.items()}
    config = transformers.Gemma4Config(text_config=text, vision_config=vision, audio_config=None, **ids)
    model = transformers.Gemma4ForConditionalGeneration(config)
    model.model.vision_tower.std_bias.zero_(), model.model.vision_tower.std_scale.fill_(1)
    return model, processor


def pixtral_parts(merge):
    t = tokenizer_with(["[IMG]", "[IMG_BREAK]", "[IMG_END]"], "[IMG]")
    pictures = pixtral_pictures()
    kind = importlib.import_module("transformers.models.pixtral.processing_pixtral").PixtralProcessor
    processor = kind(pictures, t, patch_size=4, spatial_merge_size=merge, chat_template=t.chat_template)
    return processor, dict(text_config=dict(TEXT, model_type="mistral", vocab_size=len(t)), vision_config=PIXTRAL_VISION,
                           image_token_index=t.convert_tokens_to_ids("[IMG]"), vision_feature_layer=-1, tie_word_embeddings=False)


def pixtral():
    processor, parts = pixtral_parts(1)
    return transformers.LlavaForConditionalGeneration(transformers.LlavaConfig(vision_feature_select_strategy="full", **parts)), processor


def mistral3():
    processor, parts = pixtral_parts(2)
    return transformers.Mistral3ForConditionalGeneration(transformers.Mistral3Config(spatial_merge_size=2, **parts)), processor


def paligemma():
    t = tokenizer_with(["<bos>", "<image>"], "<image>", extra_special_tokens={"image_token": "<image>"})
    t.bos_token, t.chat_template = "<bos>", None
    pictures = pil("siglip", "Siglip", size={"height": 16, "width": 16})
    pictures.image_seq_length = 16
    processor = transformers.PaliGemmaProcessor(pictures, t)
    config = transformers.PaliGemmaConfig(
        text_config=dict(TEXT, model_type="gemma", vocab_size=len(t), tie_word_embeddings=True),
        vision_config=dict(VISION, model_type="siglip_vision_model", vision_use_head=False, projection_dim=32), projection_dim=32,
        image_token_index=t.convert_tokens_to_ids("<image>"), hidden_size=32)
    return transformers.PaliGemmaForConditionalGeneration(config), processor


def glm_parts():
    t = tokenizer_with(["<|begin_of_image|>", "<|end_of_image|>", "<|image|>", "<|video|>"], "<|begin_of_image|><|image|><|end_of_image|>")
    pictures = pil("glm46v", "Glm46V", size={"shortest_edge": 128, "longest_edge": 8192}, patch_size=4)
    transformers.ProcessorMixin.check_argument_for_proper_class = lambda *_: None         # videos need torchvision
    processor = transformers.Glm46VProcessor(pictures, t, video_processor=None, chat_template=t.chat_template)
    ids = {name: t.convert_tokens_to_ids(f"<|{word}|>") for name, word in
           (("image_token_id", "image"), ("video_token_id", "video"), ("image_start_token_id", "begin_of_image"),
            ("image_end_token_id", "end_of_image"))}
    vision = dict(depth=2, hidden_size=32, intermediate_size=40, out_hidden_size=32, num_heads=2, patch_size=4)
    return processor, t, vision, dict(ids, tie_word_embeddings=False)


def glm_ocr():
    processor, t, vision, ids = glm_parts()
    text = qwen_text(t, [2, 3, 3], partial_rotary_factor=1.0)
    return transformers.GlmOcrForConditionalGeneration(transformers.GlmOcrConfig(text_config=text, vision_config=vision, **ids)), processor


def glm4v():
    processor, t, vision, ids = glm_parts()
    text = qwen_text(t, [1, 2, 1], partial_rotary_factor=0.5)
    config = transformers.Glm4vConfig(text_config=text, vision_config=dict(vision, image_size=24), **ids)
    return transformers.Glm4vForConditionalGeneration(config), processor


def glm46v():
    processor, t, vision, ids = glm_parts()
    config = transformers.Glm46VConfig(text_config=dict(qwen_text(t, [1, 2, 1], partial_rotary_factor=0.5), model_type="glm4v_text"),
                                       vision_config=dict(vision, image_size=24, model_type="glm4v_vision"), **ids)
    return transformers.Glm46VForConditionalGeneration(config), processor


def glm4v_moe():
    processor, t, vision, ids = glm_parts()
    text = qwen_text(t, [1, 2, 1], partial_rotary_factor=0.5)
    text |= dict(n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=1, first_k_dense_replace=1)
    config = transformers.Glm4vMoeConfig(text_config=text, vision_config=dict(vision, image_size=24), **ids)
    return transformers.Glm4vMoeForConditionalGeneration(config), processor


OTHERS = {"glm46v": glm46v, "glm4v-moe": glm4v_moe}                   # as others; not in the archive
FAMILIES = {"llava-next": llava_next, "gemma4": gemma4, "qwen3_5": qwen3_5, "lighton-ocr": lighton_ocr, "glm-ocr": glm_ocr, "glm4v": glm4v, "paligemma": paligemma, "pixtral": pixtral, "mistral3": mistral3, "qwen2-vl": qwen2_vl, "qwen2_5-vl": qwen2_5_vl, "qwen3-vl": qwen3_vl, "gemma3": gemma3, "idefics3": idefics3, "llava": llava, "llava-siglip": llava_siglip, "internvl": internvl}


def draw(path, width, height, seed):
    """Smooth colours with noise, so that resizing has something to do."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    base = np.stack([127 + 120 * np.sin(x / (3 + i) + y / (5 + 2 * i) + i) for i in range(3)], -1)
    pixels = np.clip(base + random.normal(0, 12, base.shape), 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(path)


def draw_pictures(root):
    draw(root / "wide.png", 60, 40, 1)
    draw(root / "small.png", 14, 15, 2)
    Image.open(root / "small.png").save(root / "small.ppm")
    Image.open(root / "small.png").save(root / "exact.webp", lossless=True)
    exif = Image.Exif()
    exif[0x112] = 6                                             # turned
    Image.open(root / "small.png").save(root / "lossy.webp", quality=70, exif=exif)
    ImageOps.exif_transpose(Image.open(root / "lossy.webp")).convert("RGB").save(root / "lossy.ppm")


def pack(archive, root):
    subprocess.run(["tar", "cJf", archive, "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-C", root]
                   + sorted(p.name for p in root.iterdir()), check=True)


def fill_model(model, folder):
    """Saves the model with the formula's weights; returns it as it is read again, in f32."""
    model.generation_config = transformers.GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model.half().save_pretrained(folder)
    lines = fill_file(folder)
    (folder / "tensors").write_text("".join(lines))
    return type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def run_case(model, processor, folder, number, pictures, question, root):
    images = [Image.open(root / p) for p in pictures]
    content = [{"type": "image"} for _ in pictures] + [{"type": "text", "text": question}]
    text = question if not processor.chat_template else processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True)
    inputs = processor(images=images if processor.chat_template else [images], text=text, return_tensors="pt", add_special_tokens=False)
    with torch.no_grad():
        logits = model(**inputs).logits[0]
        answer = model.generate(**inputs, max_new_tokens=N_ANSWER, do_sample=False, eos_token_id=None)
    n = inputs["input_ids"].shape[1]
    np.save(folder / f"logits{number}.npy", logits[-4:].numpy().astype(np.float32))
    (folder / f"answer{number}.txt").write_text(processor.tokenizer.decode(answer[0, n:], skip_special_tokens=True) + "\n")
    (folder / f"tokens{number}").write_text(f"{n}\n")


def save_processor(processor, folder):
    if getattr(processor, "video_processor", 0) is None:          # preprocessor_config.json, as before transformers 5
        processor.image_processor.save_pretrained(folder)
        processor.tokenizer.save_pretrained(folder)
    else:
        processor.save_pretrained(folder)


def write(name, root):
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    torch.manual_seed(7)
    model, processor = (FAMILIES | OTHERS)[name]()
    save_processor(processor, folder)
    model = fill_model(model, folder)
    for number, (pictures, question) in enumerate(CASES, 1):
        run_case(model, processor, folder, number, pictures, question, root)
    for file in ("README.md", "model.safetensors"):
        (folder / file).unlink(missing_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config.pop("transformers_version", None)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def main():
    names = sys.argv[1:] or list(FAMILIES)
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        if ARCHIVE.exists() and sys.argv[1:]:
            subprocess.run(["tar", "xJf", ARCHIVE, "-C", root], check=True)
        draw_pictures(root)
        for name in names:
            write(name, root)
        pack(ARCHIVE, root)


if __name__ == "__main__":
    main()
