# Prints the longest constant piece of the first line of every message in C sources: what a printed message must contain.
{ source = source $0 "\n" }

# The string literal(s) at the start of `text`, joined; macros between them (PRIu64) become %s.
function literal(text,   all, part) {
    while (1) {
        if (match(text, /^[ \t\n]+/)) text = substr(text, RLENGTH + 1)
        else if (match(text, /^[A-Z][A-Za-z0-9_]*[ \t\n]*"/)) { all = all "s"; text = substr(text, RLENGTH) }
        else if (match(text, /^"([^"\\]|\\.)*"/)) { part = substr(text, 2, RLENGTH - 2); all = all part; text = substr(text, RLENGTH + 1) }
        else return all
    }
}

function longest(text,   n, i, piece, best) {
    sub(/\\n.*/, "", text)
    sub(/%$/, "", text)
    gsub(/%%/, "\001", text)
    gsub(/%[-.*0-9]*(ll|z)?[a-z]/, "\n", text)
    gsub(/%[.*0-9]*s/, "\n", text)
    n = split(text, piece, "\n")
    for (i = 1; i <= n; i++) if (length(piece[i]) > length(best)) best = piece[i]
    gsub(/\\"/, "\"", best)
    gsub(/\\\\/, "\\", best)
    gsub(/\001/, "%", best)
    return best
}

END {
    while (match(source, /(_fatal|refuse|wrong_type)\(/)) {
        source = substr(source, RSTART + RLENGTH)
        call = source
        end = index(call, ";")
        quote = index(call, "\"")
        if (!quote || (end && end < quote)) continue
        text = longest(literal(substr(call, quote)))
        if (length(text) > 3) print text
    }
}
