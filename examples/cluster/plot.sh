#!/bin/sh
# plot.svg: ranks against tokens a second, as `burin plan` predicts them. From the top folder:
#   sh examples/cluster/plot.sh build/burin > examples/cluster/plot.svg
for shape in 8b 70b 405b; do
    for network in 1G 10G 100G; do
        echo "shape $shape $network"
        "$1" plan examples/cluster/llama-$shape.json --quant=q4_0 --ranks=1,2,4,8,16,32 --network=$network --read=30G
    done
done | awk '
    function x(ranks) { return 70 + 90 * log(ranks) / log(2) }
    function y(rate) { return 330 - 84 * log(rate / 0.1) / log(10) }
    function text(at, down, anchor, words) {
        printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, down, anchor, words }
    BEGIN {
        colour["8b"] = "#1b6ca8"; colour["70b"] = "#b3541e"; colour["405b"] = "#4a7c35"
        dash["1G"] = "2 4"; dash["10G"] = "7 4"; dash["100G"] = "none"
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" font-family=\"sans-serif\" font-size=\"12\">"
        print "<rect width=\"640\" height=\"400\" fill=\"#fff\"/>"
        for (n = 1; n <= 32; n *= 2) {
            printf "<path d=\"M%.1f 330V30\" stroke=\"#ddd\"/>\n", x(n); text(x(n), 348, "middle", n) }
        for (rate = 0.1; rate < 200; rate *= 10) {
            printf "<path d=\"M70 %.1fH520\" stroke=\"#ddd\"/>\n", y(rate); text(62, y(rate) + 4, "end", sprintf("%g", rate)) }
        text(70, 376, "start", "ranks: machines that read memory at 32 GB/s")
        text(70, 18, "start", "tokens a second, predicted, q4_0")
        for (i = 1; i <= split("1G 10G 100G", name, " "); i++) {
            printf "<path d=\"M%d 372h34\" stroke=\"#333\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", 260 + 90 * i,
                dash[name[i]]
            text(300 + 90 * i, 376, "start", name[i]) } }
    $1 == "shape" { shape = $2; network = $3; path = "M"; next }
    $1 + 0 > 0 { path = path sprintf("%.1f %.1f%s", x($1), y($2), $1 < 32 ? "L" : "")
        if ($1 == 32) {
            printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", path,
                colour[shape], dash[network]
            if (network == "10G") text(528, y($2) + 4, "start", toupper(shape)) } }
    END { print "</svg>" }'
