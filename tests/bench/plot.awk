# Plots of goals.sh, from medians.awk: tokens a second against position (what=position) or against model size (what=size), as SVG.
function x(at) { return what == "size" ? 70 + 420 * log(at / 10) / log(200) : 70 + 420 * at / 8000 }
function y(rate) { return 330 - 75 * log(rate / 10) / log(10) }
function text(at, down, anchor, words) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, down, anchor, words }
function point(at, key,    v) {
    v = median(key " 2")
    if (!v) return
    line = line (line ? "L" : "M") sprintf("%.1f %.1f", x(at), y(v))
    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(at), y(v), colour
    last_x = x(at); last_y = y(v)
}
function begin(c) { colour = c; line = "" }
function end(label) {
    if (!line) return
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", line, colour
    text(last_x + 10, last_y + 4, "start", label)
}
function frame(    i, n, mark, label, rate) {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"640\" height=\"400\" fill=\"#fff\"/>"
    n = split(what == "size" ? "15 135 1236" : "0 2048 4096 8000", mark, " ")
    split(what == "size" ? "15M 135M 1.2B" : "0 2,048 4,096 8,000", label, " ")
    for (i = 1; i <= n; i++) {
        printf "<path d=\"M%.1f 330V30\" stroke=\"#ddd\"/>\n", x(mark[i]); text(x(mark[i]), 348, "middle", label[i]) }
    for (rate = 10; rate <= 100000; rate *= 10) {
        printf "<path d=\"M70 %.1fH520\" stroke=\"#ddd\"/>\n", y(rate); text(62, y(rate) + 4, "end", rate) }
    text(70, 376, "start", what == "size" ? "weights, in four bits (q4_0), two threads" : "position; SmolLM2 q8_0, two threads")
    text(70, 18, "start", "tokens a second")
}
END {
    frame()
    begin("#1b6ca8")
    if (what == "size") {
        point(15, "decode128 s15 q4_0"); point(135, "decode128 smol q4_0"); point(1236, "decode128 l1b q4_0"); end("burin")
        begin("#b3541e")
        point(15, "peer_decode s15 q4_0"); point(135, "peer_decode smol q4_0"); point(1236, "peer_decode l1b q4_0"); end("llama.cpp")
    } else {
        point(0, "long0 smol q8_0"); point(2048, "long2048 smol q8_0"); point(8000, "long8000 smol q8_0"); end("burin")
        begin("#b3541e")
        point(128, "peer_decode smol q8_0"); point(2048, "peer_long2048 smol q8_0"); point(8000, "peer_long8000 smol q8_0"); end("llama.cpp")
    }
    print "</svg>"
}
