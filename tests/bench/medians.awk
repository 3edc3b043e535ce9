# Medians of lines "kind model format threads value", and how ratios and numbers are written. The key is the first four.
function median(key,    n, i, j, v, a) {
    n = count[key]
    for (i = 1; i <= n; i++) a[i] = value[key, i]
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && a[j] < a[j - 1]; j--) { v = a[j]; a[j] = a[j - 1]; a[j - 1] = v }
    return n ? (n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2) : 0
}
function ratio(a, b) { return a && b ? sprintf("%.2f", a / b) : "" }
function number(v) { return !v ? "" : v < 100 ? sprintf("%.1f", v) : sprintf("%.0f", v) }

{ key = $1 " " $2 " " $3 " " $4; value[key, ++count[key]] = $5 }
