// Characters of strings in templates: code points, white space, case.
#include <string.h>

#include "template_value.h"

static size_t length_of(const char *at, size_t room) {
    unsigned char first = (unsigned char)*at;
    size_t n = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    for (size_t i = 1; i < n; i++)
        if (i >= room || ((unsigned char)at[i] & 0xc0) != 0x80) return 1;
    return n;
}

uint32_t burin_character(const char **at, const char *end) {
    static const unsigned char mask[] = {0, 0xff, 0x1f, 0x0f, 0x07};
    size_t n = length_of(*at, (size_t)(end - *at));
    uint32_t code = (unsigned char)**at & mask[n];
    for (size_t i = 1; i < n; i++) code = code << 6 | ((unsigned char)(*at)[i] & 0x3f);
    *at += n;
    return code;
}

bool burin_is_blank(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

bool burin_is_printed(uint32_t c) {
    if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
        c == 0x3000 || c == 0xfeff)
        return false;
    if (burin_is_blank(c) && c != ' ') return false;
    if ((c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
        (c >= 0x2060 && c <= 0x206f))
        return false;
    return !(c >= 0xd800 && c <= 0xf8ff) && !(c >= 0xfff0 && c <= 0xfffb) && c < 0xe0000;
}

// -------------------------------------------------------------------------------------------- case
// Scripts with case: in [first, last] a lower case letter is its upper case one plus `distance`; 1:
// they take turns, and upper ones are even (or odd, where `odd`).
typedef struct case_range {
    uint32_t first, last;  // of upper case letters
    int32_t distance;
    bool odd;
} case_range;

static const case_range case_ranges[] = {
    {'A', 'Z', 32, false},         {0xc0, 0xd6, 32, false},     {0xd8, 0xde, 32, false},
    {0x100, 0x12e, 1, false},      {0x132, 0x136, 1, false},    {0x139, 0x147, 1, true},
    {0x14a, 0x176, 1, false},      {0x178, 0x178, -121, false}, {0x179, 0x17d, 1, true},
    {0x182, 0x184, 1, false},      {0x1a0, 0x1a4, 1, false},    {0x1cd, 0x1db, 1, true},
    {0x1de, 0x1ee, 1, false},      {0x1f8, 0x21e, 1, false},    {0x222, 0x232, 1, false},
    {0x370, 0x372, 1, false},      {0x386, 0x386, 38, false},   {0x388, 0x38a, 37, false},
    {0x38c, 0x38c, 64, false},     {0x38e, 0x38f, 63, false},   {0x391, 0x3a1, 32, false},
    {0x3a3, 0x3ab, 32, false},     {0x3d8, 0x3ee, 1, false},    {0x400, 0x40f, 80, false},
    {0x410, 0x42f, 32, false},     {0x460, 0x480, 1, false},    {0x48a, 0x4be, 1, false},
    {0x4c1, 0x4cd, 1, true},       {0x4d0, 0x52e, 1, false},    {0x531, 0x556, 48, false},
    {0x10a0, 0x10c5, 7264, false}, {0x1e00, 0x1e94, 1, false},  {0x1ea0, 0x1efe, 1, false},
    {0x1f08, 0x1f0f, -8, false},   {0x1f18, 0x1f1d, -8, false}, {0x1f28, 0x1f2f, -8, false},
    {0x1f38, 0x1f3f, -8, false},   {0x1f48, 0x1f4d, -8, false}, {0x1f68, 0x1f6f, -8, false},
    {0x2160, 0x216f, 16, false},   {0x24b6, 0x24cf, 26, false}, {0x2c00, 0x2c2e, 48, false},
    {0x2c80, 0x2ce2, 1, false},    {0xa640, 0xa66c, 1, false},  {0xff21, 0xff3a, 32, false},
    {0x10400, 0x10427, 40, false},
};

static bool is_upper_of(const case_range *c, uint32_t code) {
    return code >= c->first && code <= c->last && (c->distance != 1 || (code & 1) == c->odd);
}

uint32_t burin_lower(uint32_t code) {
    for (size_t i = 0; i < sizeof case_ranges / sizeof *case_ranges; i++)
        if (is_upper_of(&case_ranges[i], code)) return code + (uint32_t)case_ranges[i].distance;
    return code;
}

uint32_t burin_upper(uint32_t code) {
    if (code == 0x131 || code == 0x17f) return code == 0x131 ? 'I' : 'S';
    if (code == 0xb5 || code == 0x3c2) return code == 0xb5 ? 0x39c : 0x3a3;
    for (size_t i = 0; i < sizeof case_ranges / sizeof *case_ranges; i++)
        if (is_upper_of(&case_ranges[i], code - (uint32_t)case_ranges[i].distance))
            return code - (uint32_t)case_ranges[i].distance;
    return code;
}

// Letters: those with case, and by blocks those of scripts without.
bool burin_is_letter(uint32_t c) {
    static const uint32_t blocks[][2] = {
        {0xaa, 0xaa},     {0xb5, 0xb5},      {0xba, 0xba},     {0xdf, 0xdf},     {0xf7 + 1, 0x2c1},
        {0x370, 0x373},   {0x376, 0x377},    {0x37b, 0x37d},   {0x386, 0x386},   {0x388, 0x481},
        {0x48a, 0x556},   {0x561, 0x587},    {0x5d0, 0x5ea},   {0x620, 0x64a},   {0x671, 0x6d3},
        {0x904, 0x939},   {0xe01, 0xe30},    {0x10a0, 0x10ff}, {0x1100, 0x11ff}, {0x1e00, 0x1fff},
        {0x3041, 0x3096}, {0x30a1, 0x30fa},  {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3},
        {0xf900, 0xfaff}, {0x20000, 0x3ffff}};
    if (burin_lower(c) != c || burin_upper(c) != c) return true;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (c >= blocks[i][0] && c <= blocks[i][1]) return true;
    return false;
}

static void add_case(burin_render_state *r, uint32_t code, bool upper, bool marked) {
    if (upper && code == 0xdf) {  // sharp s
        burin_text_code(r, 'S', marked);
        code = 's';
    }
    burin_text_code(r, upper ? burin_upper(code) : burin_lower(code), marked);
}

// After these characters a word begins for the filter `title`.
static bool begins_word(uint32_t code) {
    return burin_is_blank(code) || (code && code < 0x80 && strchr("-({[<", (int)code));
}

burin_value burin_change_case(burin_render_state *r, burin_value s, const char *how) {
    const char *at = s.text, *end = at + s.length;
    size_t begin = burin_text_begin(r);
    bool first = true;
    while (at < end) {
        const char *from = at;
        uint32_t code = burin_character(&at, end);
        bool upper = *how == 'u' || (*how != 'l' && first);
        if (at - from == 1 && code >= 0x80)
            burin_text_add(r, from, 1);  // no UTF-8
        else
            add_case(r, code, upper, burin_marked(r, from));
        first = (*how == 't' && !burin_is_letter(code)) || (*how == 'w' && begins_word(code));
    }
    burin_render_step(r, s.length);
    burin_value changed = burin_text_end(r, begin);
    changed.safe = s.safe;
    return changed;
}

// --------------------------------------------------------------------------------------- positions
int64_t burin_count_characters(burin_value s) {
    int64_t n = 0;
    for (const char *at = s.text, *end = at + s.length; at < end; n++)
        at += length_of(at, (size_t)(end - at));
    return n;
}

size_t burin_character_offset(burin_value s, int64_t index) {
    const char *at = s.text, *end = at + s.length;
    for (; index > 0 && at < end; index--) at += length_of(at, (size_t)(end - at));
    return (size_t)(at - s.text);
}

static bool is_stripped(burin_value characters, const char *at, size_t n) {
    const char *from = at;
    if (characters.kind == BURIN_STRING) return memmem(characters.text, characters.length, at, n);
    return burin_is_blank(burin_character(&from, at + n));
}

// Steps to decide whether this many bytes are stripped.
static size_t strip_steps(burin_value characters, size_t bytes) {
    return characters.kind == BURIN_STRING ? bytes * (1 + characters.length / 32) : bytes / 4;
}

burin_value burin_strip(burin_render_state *r, burin_value s, burin_value characters, bool left,
                        bool right) {
    size_t from = 0, end = s.length;
    if (characters.kind != BURIN_STRING && characters.kind != BURIN_NONE &&
        characters.kind != BURIN_UNDEFINED)
        burin_render_fail(r, "strip takes a string, not %s", burin_kind_names[characters.kind]);
    while (left && from < end) {
        size_t n = length_of(s.text + from, end - from);
        if (!is_stripped(characters, s.text + from, n)) break;
        from += n;
    }
    while (right && from < end) {
        size_t n = 1;
        while (n < 4 && n < end - from && ((unsigned char)s.text[end - n] & 0xc0) == 0x80) n++;
        if (length_of(s.text + end - n, n) != n) n = 1;
        if (!is_stripped(characters, s.text + end - n, n)) break;
        end -= n;
    }
    burin_render_step(r, strip_steps(characters, s.length - (end - from) + 1));
    return burin_slice(s, from, end - from);
}
