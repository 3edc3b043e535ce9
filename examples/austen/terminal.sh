#!/bin/sh
# Draws a real run of demo.sh as an animated SVG of a terminal. usage: examples/austen/terminal.sh > examples/austen/terminal.svg
set -eu
cd "$(dirname "$0")/../.."
examples/austen/demo.sh 2>&1 | sed '/^$ .*--bench/,$d' | fold -s -w 100 | awk '
    function escaped(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
    { sub(/[[:space:]]+$/, "") }
    NF || n { line[n++] = $0 }
    END {
        while (n && line[n - 1] == "") { n-- }
        height = 20 * n + 56
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 880 " height "\" role=\"img\" aria-label=\"burin builds a program\">"
        print "<style>text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }"
        print ".command { fill: #a3d9a5; font-weight: 600 } g { animation: show 0.2s both }"
        print "@keyframes show { from { opacity: 0 } } @media (prefers-reduced-motion) { g { animation: none } }</style>"
        print "<rect width=\"880\" height=\"" height "\" rx=\"8\" fill=\"#1f2430\"/>"
        for (i = 0; i < 3; i++) { printf "<circle cx=\"%d\" cy=\"18\" r=\"5\" fill=\"#4c566a\"/>\n", 20 + 18 * i }
        for (i = 0; i < n; i++) {
            command = line[i] ~ /^\$ /
            wait += command ? 0.8 : 0.15
            printf "<g style=\"animation-delay: %.2fs\"><text x=\"16\" y=\"%d\"%s>%s</text></g>\n", wait, 50 + 20 * i, \
                command ? " class=\"command\"" : "", escaped(line[i])
        }
        print "</svg>"
    }'
