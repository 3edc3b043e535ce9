# Tables of run.sh from its lines "kind model format threads value": medians, and ratios of medians.
function wanted(part) { return index(only, " " part " ") }

function decoding(    i, j, t, id) {
    print "\nDecoding, tokens a second at position 0 (llama.cpp: both at position 128). *stream*: a bare packed product over the same\nweights, mapped from a file: what this memory lets decoding reach.\n"
    print "| model | weights | threads | tokens/s | *stream* | of *stream* | llama.cpp | of llama.cpp |\n|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_models; i++) for (j = 1; j <= n_formats; j++) for (t = 1; t <= n_threads; t++) {
        id = model[i] " " format[j] " " thread[t]
        print "| " model[i] " | " format[j] " | " thread[t] " | " number(median("decode " id)) " | " number(median("stream " id)) " | " \
            ratio(median("decode " id), median("stream " id)) " | " number(median("peer_decode " id)) " | " \
            ratio(median("decode128 " id), median("peer_decode " id)) " |"
    }
}
function prefill(    i, j, t, id, p) {
    print "\nReading a prompt of 128 tokens, tokens a second; the share counts the products of the layers, causal attention\nand the one row of logits.\n"
    print "| model | weights | threads | tokens/s | of the f32 FMA peak | llama.cpp | of llama.cpp |\n|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_models; i++) for (j = 1; j <= n_formats; j++) for (t = 1; t <= n_threads; t++) {
        id = model[i] " " format[j] " " thread[t]
        p = median("prefill " id)
        print "| " model[i] " | " format[j] " | " thread[t] " | " number(p) " | " \
            ratio(p * mega[model[i]] / 1000, median("peak - f32 " thread[t])) " | " number(median("peer_prefill " id)) " | " \
            ratio(p, median("peer_prefill " id)) " |"
    }
}
function long_row(what, key, t,    id) {
    id = long " " thread[t]
    print "| " what " | " thread[t] " | " number(median("long" key " " id)) " | " number(median("peer_long" key " " id)) " | " \
        ratio(median("long" key " " id), median("peer_long" key " " id)) " |"
}
function long_contexts(    t) {
    print "\nLong contexts, tokens a second: " long " with a cache of q8_0 (llama.cpp: f16, its default).\n"
    print "| what | threads | tokens/s | llama.cpp | of llama.cpp |\n|---|---|---|---|---|"
    for (t = 1; t <= n_threads; t++) {
        long_row("a token at 2,048", "2048", t)
        long_row("a token at 8,000", "8000", t)
        long_row("a prompt of 2,048", "_prefill", t)
    }
}
function networks(    i, t, id) {
    print "\nONNX files, f32: milliseconds a run (BERT and MiniLM of 128 tokens, a step of GPT-2 after 128).\n"
    print "| file | threads | burin, ms | ONNX Runtime, ms | how many times as fast |\n|---|---|---|---|---|"
    for (i = 1; i <= n_nets; i++) for (t = 1; t <= n_threads; t++) {
        id = net[i] " f32 " thread[t]
        print "| " net[i] " | " thread[t] " | " number(median("net " id)) " | " number(median("ort " id)) " | " \
            ratio(median("ort " id), median("net " id)) " |"
    }
}
function starting(    i, j, id) {
    print "\nBuilding, and starting: from nothing to the end after one token, beside a process that prints its version.\n"
    print "| model | weights | build, s | one token, ms | version alone, ms |\n|---|---|---|---|---|"
    for (i = 1; i <= n_models; i++) for (j = 1; j <= n_formats; j++) {
        id = model[i] " " format[j] " -"
        print "| " model[i] " | " format[j] " | " number(median("build " id)) " | " number(median("start " id)) " | " number(median("nothing " id)) " |"
    }
}

END {
    # millions of operations for each of 128 tokens: the products of the layers (11.94, 212.34, 169.87, 1946.16), causal
    # attention (4 heads head_dim 64.5 a layer), and the one row of logits
    mega["s15"] = 12.53; mega["smol"] = 217.24; mega["s110"] = 172.63; mega["l1b"] = 1958.72
    n_models = split(models, model, " "); n_formats = split(formats, format, " ")
    n_nets = split(nets, net, " "); n_threads = split(threads, thread, " ")
    if (wanted("decode")) decoding()
    if (wanted("prefill")) prefill()
    if (wanted("long")) long_contexts()
    if (wanted("onnx")) networks()
    if (wanted("start")) starting()
}
