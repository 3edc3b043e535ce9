// Trees are laid out for a walk from front to back: nodes of 12 bytes, each after its parent.
#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "constraint.h"
#include "tokenizer/tokenizer.h"

size_t burin_mark_text(const void *tokenizer, int32_t id, const char *const *marks, char *text) {
    size_t bytes;
    const char *own = marks && burin_token_is_special(tokenizer, id)
                          ? burin_token_text(tokenizer, id, &bytes)
                          : NULL;
    for (; own && *marks && bytes > 1 && bytes <= BURIN_LONGEST_MARK; marks++)
        if (memmem(*marks, strlen(*marks), own, bytes)) return memcpy(text, own, bytes), bytes;
    return 0;
}

static void read_texts(burin_vocabulary *v, const void *tokenizer, const char *const *marks) {
    size_t room = 0, n = 0;
    char *text = burin_allocate(1, v->longest), *first = burin_allocate(1, v->longest);
    for (int32_t id = 0; id < v->size; id++) {
        burin_decoder inside = {.started = true}, outside = {0};
        size_t bytes = burin_decode(tokenizer, &inside, id, text);
        if (!bytes) bytes = burin_mark_text(tokenizer, id, marks, text);
        v->drops |= bytes && *text == ' ' && burin_decode(tokenizer, &outside, id, first) < bytes;
        if (n + bytes > room) {
            char *more = burin_allocate(1, room = 2 * (room + bytes) + (1 << 16));
            if (n) memcpy(more, v->texts, n);
            free(v->texts);
            v->texts = more;
        }
        if (bytes) memcpy(v->texts + n, text, bytes);
        v->begin[id] = (int64_t)n;
        n += bytes;
    }
    v->begin[v->size] = (int64_t)n;
    free(text), free(first);
}

static const burin_vocabulary *sorted_vocabulary;  // while qsort runs

static int by_text(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int64_t n = sorted_vocabulary->begin[x + 1] - sorted_vocabulary->begin[x],
            m = sorted_vocabulary->begin[y + 1] - sorted_vocabulary->begin[y];
    int order =
        memcmp(sorted_vocabulary->texts + sorted_vocabulary->begin[x],
               sorted_vocabulary->texts + sorted_vocabulary->begin[y], (size_t)(n < m ? n : m));
    return order ? order : n != m ? (n > m) - (n < m) : (x > y) - (x < y);
}

static int32_t shared_bytes(const burin_vocabulary *v, int32_t a, int32_t b) {
    int64_t i = 0, n = v->begin[a + 1] - v->begin[a], m = v->begin[b + 1] - v->begin[b];
    while (i < n && i < m && v->texts[v->begin[a] + i] == v->texts[v->begin[b] + i]) i++;
    return (int32_t)i;
}

// Without the blocks that have spaces, ends of lines and punctuation.
const burin_wide_row burin_wide_rows[BURIN_WIDE_ROWS] = {
    {0xc2, 0xc2, 0xa1, 0xbf, 0}, {0xc3, 0xdf, 0x80, 0xbf, 0}, {0xe0, 0xe0, 0xa0, 0xbf, 1},
    {0xe1, 0xe1, 0x9b, 0xbf, 1}, {0xe2, 0xe2, 0x82, 0xbf, 1}, {0xe3, 0xe3, 0x81, 0xbf, 1},
    {0xe4, 0xec, 0x80, 0xbf, 1}, {0xed, 0xed, 0x80, 0x9f, 1}, {0xee, 0xee, 0x80, 0xbf, 1},
    {0xef, 0xef, 0xbc, 0xbf, 1}, {0xf0, 0xf0, 0x90, 0xbf, 2}, {0xf1, 0xf3, 0x80, 0xbf, 2},
    {0xf4, 0xf4, 0x80, 0x8f, 2},
};

bool burin_plain_ascii(uint8_t byte) {
    static const uint64_t none = 1,
                          not_plain[2] = {
                              0xffffffff | none << '"' | none << '<' | none << '>',
                              none << ('\\' - 64) | none << ('[' - 64) | none << (']' - 64) |
                                  none << ('{' - 64) | none << ('}' - 64) | none << ('|' - 64) |
                                  none << ('`' - 64) | none << (0x7f - 64),
                          };
    return byte < 0x80 && !(not_plain[byte / 64] >> byte % 64 & 1);
}

bool burin_plain_lower(uint8_t byte) { return byte >= 'a' && byte <= 'z'; }
bool burin_plain_word(uint8_t byte) {
    return burin_plain_lower(byte | 0x20) || (byte >= '0' && byte <= '9');
}

// Bytes of the plain character at the front of n bytes; 0: there is none.
static int64_t plain_character(const uint8_t *at, int64_t n) {
    if (*at < 0x80) return burin_plain_ascii(*at);
    for (int i = 0; i < BURIN_WIDE_ROWS; i++) {
        const burin_wide_row *row = &burin_wide_rows[i];
        if (*at < row->low || *at > row->high) continue;
        if (n < row->more + 2 || at[1] < row->second_low || at[1] > row->second_high) return 0;
        for (int k = 0; k < row->more; k++)
            if ((at[k + 2] & 0xc0) != 0x80) return 0;
        return row->more + 2;
    }
    return 0;
}

static burin_token_group group_of(const burin_vocabulary *v, int32_t id, uint8_t *characters) {
    const uint8_t *at = (const uint8_t *)v->texts + v->begin[id],
                  *end = (const uint8_t *)v->texts + v->begin[id + 1];
    // the last three: after the first character
    bool wide = false, word = true, lower = true, ascii = false;
    for (*characters = 0; at < end; ++*characters) {
        int64_t n = plain_character(at, end - at);
        if (!n || *characters == BURIN_PLAIN_LONGEST) return BURIN_OTHER;
        wide |= *at >= 0x80;
        bool counts = *characters && *at < 0x80;
        lower &= !counts || burin_plain_lower(*at), word &= !counts || burin_plain_word(*at),
            ascii |= counts;
        at += n;
    }
    if (wide) return !ascii ? BURIN_WIDE : lower ? BURIN_MIXED : BURIN_OTHER;
    return lower ? BURIN_LOWER : word ? BURIN_WORD : BURIN_PLAIN;
}

// The tokens are sorted. `path`: the node at each depth of the newest token.
static void grow_tree(const burin_vocabulary *v, burin_token_tree *tree, int32_t *path) {
    int32_t n = 0, depth = 0;
    for (int32_t i = 0; i < tree->n_tokens; i++) {
        int32_t id = tree->tokens[i], shared = i ? shared_bytes(v, tree->tokens[i - 1], id) : 0;
        for (; depth > shared; depth--) tree->nodes[path[depth - 1]].skip = n;
        for (int64_t at = v->begin[id] + shared; at < v->begin[id + 1]; at++, n++) {
            tree->nodes[n] = (burin_token_node){
                .token = v->size, .depth = (uint32_t)depth, .byte = (uint8_t)v->texts[at]};
            path[depth++] = n;
        }
        tree->nodes[n - 1].token = id;
    }
    for (; depth > 0; depth--) tree->nodes[path[depth - 1]].skip = n;
    tree->n_nodes = n;
}

static void plant_tree(const burin_vocabulary *v, burin_token_tree *tree) {
    size_t nodes = 1;
    for (int32_t i = 0; i < tree->n_tokens; i++) {
        int32_t id = tree->tokens[i], shared = i ? shared_bytes(v, tree->tokens[i - 1], id) : 0;
        nodes += (size_t)(v->begin[id + 1] - v->begin[id] - shared);
    }
    tree->nodes = burin_allocate(nodes, sizeof *tree->nodes);
    int32_t *path = burin_allocate(v->longest, sizeof *path);
    grow_tree(v, tree, path);
    free(path);
}

static void sort_by_characters(const burin_vocabulary *v, burin_token_tree *tree,
                               const uint8_t *characters) {
    int32_t *sorted = burin_allocate((size_t)tree->n_tokens, sizeof *sorted), n = 0, first = 0;
    tree->ends = burin_allocate(256, sizeof *tree->ends);
    for (int byte = 0; byte < 256; byte++, first = n) {
        int32_t end = first;
        while (end < tree->n_tokens && (uint8_t)v->texts[v->begin[tree->tokens[end]]] == byte)
            end++;
        for (int k = 0; k <= BURIN_PLAIN_LONGEST; k++) {
            for (int32_t i = first; i < end; i++)
                if (characters[tree->tokens[i]] == k) sorted[n++] = tree->tokens[i];
            tree->ends[byte][k] = n;
        }
    }
    free(tree->tokens);
    tree->tokens = sorted;
    for (int i = 0; i < 2; i++) tree->all[i] = burin_allocate((size_t)v->words, sizeof **tree->all);
    for (int32_t i = 0; i < n; i++) {
        bool space = i >= tree->ends[' '][0] && i < tree->ends[' '][BURIN_PLAIN_LONGEST];
        tree->all[space][sorted[i] / 64] |= (uint64_t)1 << sorted[i] % 64;
    }
}

static void share_out(burin_vocabulary *v, const int32_t *ids, int32_t n, uint8_t *characters) {
    for (int g = 0; g < BURIN_TOKEN_GROUPS; g++)
        v->groups[g].tokens = burin_allocate((size_t)n, sizeof(int32_t));
    for (int32_t i = 0, last = -1; i < n; i++) {
        bool copy =
            last >= 0 &&
            v->begin[ids[i] + 1] - v->begin[ids[i]] == v->begin[last + 1] - v->begin[last] &&
            shared_bytes(v, last, ids[i]) == v->begin[last + 1] - v->begin[last];
        if (copy) {
            v->copies[v->n_copies][0] = last, v->copies[v->n_copies++][1] = ids[i];
            continue;
        }
        burin_token_tree *tree = &v->groups[group_of(v, ids[i], &characters[ids[i]])];
        tree->tokens[tree->n_tokens++] = last = ids[i];
    }
}

void burin_vocabulary_open(burin_vocabulary *v, const void *tokenizer, int32_t size,
                           const char *const *marks) {
    *v = (burin_vocabulary){.size = size, .words = size / 64 + 1};
    v->longest = burin_decode_max(tokenizer) + BURIN_LONGEST_MARK;
    v->begin = burin_allocate((size_t)size + 1, sizeof *v->begin);
    read_texts(v, tokenizer, marks);
    int32_t n = 0, *ids = burin_allocate((size_t)size, sizeof *ids);
    uint8_t *characters = burin_allocate((size_t)size, sizeof *characters);
    v->copies = burin_allocate((size_t)size, sizeof *v->copies);
    for (int32_t id = 0; id < size; id++)
        if (v->begin[id + 1] > v->begin[id]) ids[n++] = id;
    sorted_vocabulary = v;
    qsort(ids, (size_t)n, sizeof *ids, by_text);
    share_out(v, ids, n, characters);
    for (int g = 0; g < BURIN_TOKEN_GROUPS; g++) {
        plant_tree(v, &v->groups[g]);
        if (g != BURIN_OTHER) sort_by_characters(v, &v->groups[g], characters);
    }
    free(ids), free(characters);
}

void burin_vocabulary_close(burin_vocabulary *v) {
    for (int g = 0; g < BURIN_TOKEN_GROUPS; g++) {
        free(v->groups[g].nodes), free(v->groups[g].tokens), free(v->groups[g].ends);
        free(v->groups[g].all[0]), free(v->groups[g].all[1]);
    }
    free(v->begin), free(v->texts), free(v->copies);
}
