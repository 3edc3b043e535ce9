# The table of goals.sh, from medians.awk. A share is of the time that bytes or operations need at least; a multiple is of the peer.
function of(kind, id) { return median(kind " " id " 2") }
function larger(a, b) { return a > b ? a : b }
function best(kind, model) { return larger(of(kind, model " q4_0"), of(kind, model " q4_k")) }
function met(got, goal) { return !got || !goal ? "" : got >= goal ? " (goal " goal ")" : " (**goal " goal "**)" }
function cell(got, goal) { return got ? sprintf("%.2f", got) met(got, goal) : "" }
function row(what, speed, share, share_goal, peer, multiple, multiple_goal) {
    if (speed) print "| " what " | " number(speed) " | " cell(share, share_goal) " | " number(peer) " | " cell(multiple, multiple_goal) " |"
}
function over(a, b) { return a && b ? a / b : 0 }

function read_rate(id) { return of("stream", id) * of("megabytes", id) }  # MB a second
# Of the bytes of its own weights: where rows are no whole number of blocks of 256, q4_k is other formats in part.
function decode_row(model, format, share, multiple,    id, peer) {
    id = model " " format; peer = best("peer_decode", model)
    row("decode " name[model] " " format, of("decode", id), over(of("rate", id), read_rate(model " q4_0")), share, peer,
        over(of("decode128", id), peer), multiple)
}
# A position more is so many megabytes of the cache more: 30 layers, keys and values of 3 heads of 64, blocks of 34 bytes for 32
function long_row(position, share, multiple,    id, bytes, limit) {
    id = "smol q8_0"; bytes = of("megabytes", id)
    limit = over(of("stream", id) * bytes, bytes + position * 30 * 2 * 192 * 34 / 32 / 1e6)
    row("decode SmolLM2 q8_0 at " position, of("long" position, id), over(of("long" position, id), limit), share,
        of("peer_long" position, id), over(of("long" position, id), of("peer_long" position, id)), multiple)
}
# `mega`: millions of operations of a token; `peak`: of which the share is. Weights of 4 bits have one of their own where products
# are summed in 16 bits first.
function prefill_row(model, format, peak, share, peer, multiple,    v) {
    v = of("prefill", model " " format)
    if (peak == "int4" && !of("peak", "- int4")) peak = "int8"
    if (peak == "int8" && of("peak", "- amx")) { peak = "amx"; share = 0.30 }
    row("prefill 128 " name[model] " " format, v, over(v * mega[model] / 1000, of("peak", "- " peak)), share, peer, over(v, peer), multiple)
}
# A token's products at the peak of int8 and its attention, to half of 2,048 keys, at that of f32
function long_prefill_row(share, multiple,    v, limit) {
    v = of("long_prefill", "smol q8_0")
    if (of("peak", "- int8")) limit = 1000 / (212.34 / of("peak", "- int8") + 4 * 30 * 9 * 64 * 1024.5 / 1e6 / of("peak", "- f32"))
    row("prefill 2,048 SmolLM2 q8_0", v, over(v, limit), share, of("peer_long_prefill", "smol q8_0"),
        over(v, of("peer_long_prefill", "smol q8_0")), multiple)
}
# In runs a second; BERT-base: 21.74 thousand million operations in the products of 128 tokens
function net_row(what, net, against, share, multiple,    ms, peer) {
    ms = of("net", net " f32"); peer = of("ort", against " f32")
    row(what, over(1000, ms), share ? over(21.74 * over(1000, ms), of("peak", "- int8")) : 0, share, over(1000, peer), over(peer, ms), multiple)
}
# Of 128 experts of 384 x 1024 in 8 layers a token touches 8, and what is not experts: 20.97 million weights in layers, 4.19 of the
# head, all of 4.5 bits, and routers of f32. All experts at the speed at which SmolLM2 reads: what choosing them saves.
function expert_rows(    touched, all, id, dense) {
    id = "experts q4_0"
    touched = (8 * 8 * 3 * 1.024 * 0.384 + 20.97 + 4.19) * 4.5 / 8 + 8 * 128 * 1024 * 4 / 1e6
    row("decode 128 experts", of("decode", id), over(of("decode", id) * touched, read_rate("smol q4_0")), 0.75,
        of("peer_decode", id), over(of("decode", id), of("peer_decode", id)), 0)
    all = 2 * 8 * 128 * 3 * 1.024 * 0.384 + 2 * 20.97
    dense = of("prefill", "smol q4_0") * mega["smol"]
    row("prefill 512 of 128 experts, of all experts' time", of("prefill", id), over(of("prefill", id) * all, dense), 3,
        of("peer_prefill", id), over(of("prefill", id), of("peer_prefill", id)), 0)
}

END {
    name["s15"] = "stories15M"; name["smol"] = "SmolLM2"; name["l1b"] = "Llama-3.2-1B's shape"
    mega["s15"] = 12.53; mega["smol"] = 217.24  # tables.awk
    print "\nTokens a second, for networks runs a second. *Limit*: what memory, or the peak of integer products or of FMA, allow; peers:"
    if (of("peak", "- amx")) amx = "Prompts of 128 in q8_0 and q4_k: of the peak of AMX, whose goal is 0.3; elsewhere integer products are of that of VNNI.\n"
    print "llama.cpp, the better of q4_0 and q4_k_m where weights have four bits, and ONNX Runtime. Bold: a goal that is missed.\n" amx
    print "| row | burin | of the limit | peer | of the peer |\n|---|---|---|---|---|"
    decode_row("smol", "q4_0", 0.85, 2.5); decode_row("smol", "q4_k", 0.90, 1.4)
    decode_row("l1b", "q4_0", 0.85, 2.5); decode_row("l1b", "q4_k", 0.90, 1.4)
    decode_row("s15", "q4_0", 0.45, 3)
    long_row(2048, 0.80, 3); long_row(8000, 0.75, 4)
    prefill_row("smol", "q8_0", "int8", 0.60, of("peer_prefill", "smol q8_0"), 6)
    prefill_row("smol", "q4_k", "int4", 0.55, best("peer_prefill", "smol"), 4)
    long_prefill_row(0.45, 4)
    prefill_row("smol", "f32", "f32", 0.90, of("peer_prefill", "smol f32"), 1.6)
    prefill_row("s15", "f32", "f32", 0.85, of("peer_prefill", "s15 f32"), 1.6)
    net_row("BERT-base f32", "bert", "bert", 0, 1.5); net_row("MiniLM f32", "minilm", "minilm", 0, 1.5)
    net_row("BERT-base, its int8 file", "bert_int8", "bert_int8", 0.50, 1.6)
    net_row("BERT-base, --quant q8_0", "bert_q8_0", "bert_int8", 0.50, 1.6)
    expert_rows()
}
