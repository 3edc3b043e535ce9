# Of disassembled ARM code (objdump -d): for each function its stack in bytes, with those that it calls. Pushed registers, and what is
# taken from sp; functions that call themselves count once.
/^[0-9a-f]+ </ { name = $2; gsub(/[<>:]/, "", name) }
/\tpush|stmdb\tsp!/ { frame[name] += 4 * registers($0) }
/vpush/ { frame[name] += 4 * registers($0) }  # of doubles: 8 each
/\tsubw?(\.w)?\tsp, |\[sp, #-[0-9]+\]!/ { number = $0; sub(/.*#-?/, "", number); frame[name] += number + 0 }
/\tb[a-z]*(\.[nw])?\t.*<[^+>]*>/ { callee = $0; sub(/.*</, "", callee); sub(/>.*/, "", callee); calls[name] = calls[name] " " callee }
END { for (f in calls) depth(f); for (f in frame) print depth(f), f }

function registers(line,    list, n, i, ends, count) {
    sub(/.*\{/, "", line)
    sub(/\}.*/, "", line)
    n = split(line, list, /, */)
    for (i = 1; i <= n; i++) {
        if (list[i] ~ /-/) {
            split(list[i], ends, "-")
            gsub(/[a-z]/, "", ends[1])
            gsub(/[a-z]/, "", ends[2])
            count += ends[2] - ends[1] + 1
        } else count++
        if (list[i] ~ /d/) count++
    }
    return count
}

function depth(f,    list, n, i, deepest, below) {
    if (f in known) return known[f]
    known[f] = 0
    n = split(calls[f], list, " ")
    for (i = 1; i <= n; i++)
        if ((below = depth(list[i])) > deepest) deepest = below
    return known[f] = frame[f] + deepest
}
