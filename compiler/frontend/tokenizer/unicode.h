// The tables that unicode.awk makes of UnicodeData.txt.
#ifndef BURIN_TOKENIZER_UNICODE_H
#define BURIN_TOKENIZER_UNICODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct UnicodeRange {
    uint32_t first, last;
    char major, minor;  // general category: 'L', 'u'
} UnicodeRange;

typedef struct UnicodeScript {
    uint32_t first, last;
    const char *name;
} UnicodeScript;

typedef struct UnicodeAge {
    uint32_t first, last;
    unsigned version;  // in which these characters are new: 91 is Unicode 9.1
} UnicodeAge;

typedef struct UnicodeLower {
    uint32_t code, lower;
} UnicodeLower;

typedef struct UnicodeClass {
    uint32_t code, combining;  // canonical combining class, not 0
} UnicodeClass;

typedef struct UnicodeDecomposition {
    uint32_t code;
    uint8_t compatible, excluded;  // only for NFKD; never composed again
    uint32_t offset, count;        // of parts
} UnicodeDecomposition;

typedef struct UnicodeTables {
    const UnicodeRange *ranges;
    size_t n_ranges;
    const UnicodeScript *scripts;
    size_t n_scripts;
    const UnicodeAge *ages;
    size_t n_ages;
    const UnicodeLower *lower;
    size_t n_lower;
    const UnicodeClass *classes;
    size_t n_classes;
    const UnicodeDecomposition *decompositions;
    size_t n_decompositions;
    const uint32_t *parts;
} UnicodeTables;

const UnicodeTables *unicode_tables(void);
bool unicode_newer(uint32_t code, unsigned version);  // is the character newer than this version?
#endif
