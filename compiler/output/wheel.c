// A wheel is a zip file: NAME/__init__.py, NAME/py.typed, NAME/NAME.so, and a folder .dist-info
// with METADATA, WHEEL and RECORD, which has the SHA-256 of each member. Members are stored:
// weights do not become smaller.
#include "output/wheel.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "output/output_mark.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/mapping.h"
#include "util/sha256.h"
#include "util/text.h"
#include "version.h"

enum { MOST_MEMBERS = 8, OLDEST_GLIBC = 17 };  // manylinux_2_17 is the oldest that pip knows

// --------------------------------------------------------------------------------- glibc's version
static uint64_t little_endian(const unsigned char *p, int bytes) {
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}

// Fields of an ELF file of 32 or 64 bits
typedef struct Elf {
    const unsigned char *data;
    uint64_t size;
    bool wide;
} Elf;

static const unsigned char *section(const Elf *e, uint64_t index) {
    const unsigned char *head = e->data;
    uint64_t table = little_endian(head + (e->wide ? 0x28 : 0x20), e->wide ? 8 : 4),
             bytes = little_endian(head + (e->wide ? 0x3a : 0x2e), 2),
             n = little_endian(head + (e->wide ? 0x3c : 0x30), 2);
    return index < n && table + (index + 1) * bytes <= e->size ? head + table + index * bytes
                                                               : NULL;
}

static uint64_t section_offset(const Elf *e, const unsigned char *s) {
    return little_endian(s + (e->wide ? 0x18 : 0x10), e->wide ? 8 : 4);
}

static uint64_t section_link(const Elf *e, const unsigned char *s) {
    return little_endian(s + (e->wide ? 0x28 : 0x18), 4);
}

// The largest N of the versions GLIBC_2.N that a section of needed versions names
static int newest_version(const Elf *e, const unsigned char *needed) {
    const unsigned char *texts = section(e, section_link(e, needed));
    uint64_t names = texts ? section_offset(e, texts) : e->size, at = section_offset(e, needed);
    int newest = 0;
    for (uint64_t next = 1; next && at + 16 <= e->size; at += next) {
        uint64_t aux = at + little_endian(e->data + at + 8, 4);
        next = little_endian(e->data + at + 12, 4);
        for (uint64_t more = 1; more && aux + 16 <= e->size; aux += more) {
            uint64_t name = names + little_endian(e->data + aux + 8, 4);
            more = little_endian(e->data + aux + 12, 4);
            if (name + 16 > e->size || strncmp((const char *)e->data + name, "GLIBC_2.", 8))
                continue;
            int n = atoi((const char *)e->data + name + 8);
            if (n > newest) newest = n;
        }
    }
    return newest;
}

static int needed_glibc(const char *path) {
    Elf e;
    e.data = (const unsigned char *)mapping_open(path, &e.size);
    int newest = OLDEST_GLIBC;
    if (e.size < sizeof(Elf64_Ehdr) || memcmp(e.data, ELFMAG, SELFMAG)) return newest;
    e.wide = e.data[EI_CLASS] == ELFCLASS64;
    const unsigned char *s;
    for (uint64_t i = 0; (s = section(&e, i)); i++) {
        int n = little_endian(s + 4, 4) == SHT_GNU_verneed ? newest_version(&e, s) : 0;
        if (n > newest) newest = n;
    }
    return newest;
}

// As pip names platforms
static const char *platform_of(Arena *arena, const Wheel *w) {
    const char *architecture =
        !strcmp(w->machine->architecture, "arm") ? "armv7l" : w->machine->architecture;
    if (machine_is_windows(w->machine)) return "win_amd64";
    if (strstr(w->machine->triple, "musl"))
        return arena_printf(arena, "musllinux_1_2_%s", architecture);
    return arena_printf(arena, "manylinux_2_%d_%s", needed_glibc(w->library), architecture);
}

static const char *tag_of(Arena *arena, const Wheel *w) {
    return arena_printf(arena, "py3-none-%s", platform_of(arena, w));
}

// A version of its own for each model and each set of options, so that pip replaces one by another
static const char *stem_of(Arena *arena, const Wheel *w) {
    return arena_printf(arena, "%s-1.0+i%s", w->name, w->identity);
}

const char *wheel_name(Arena *arena, const Wheel *w) {
    return arena_printf(arena, "%s-%s.whl", stem_of(arena, w), tag_of(arena, w));
}

// ------------------------------------------------------------------------------------ the zip file
typedef struct Member {
    const char *name;
    const void *data;
    uint64_t bytes, offset;
    uint32_t crc;
} Member;

typedef struct Zip {
    FILE *file;
    const char *path;
    Member members[MOST_MEMBERS];
    int n;
    Text record;
} Zip;

static void put(Zip *z, const void *data, size_t bytes) {
    if (fwrite(data, 1, bytes, z->file) != bytes) diag_fatal(NO_LOC, "cannot write %s", z->path);
}

static void put_number(Zip *z, uint64_t value, int bytes) {
    unsigned char p[8];
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(value >> 8 * i);
    put(z, p, (size_t)bytes);
}

// The fields that a member's header and its entry in the directory share: version 2.0, stored,
// 1980-01-01
static void put_fields(Zip *z, const Member *m) {
    put_number(z, 20, 2);
    put_number(z, 0, 4);
    put_number(z, 0x00210000, 4);
    put_number(z, m->crc, 4);
    put_number(z, m->bytes, 4);
    put_number(z, m->bytes, 4);
    put_number(z, strlen(m->name), 2);
    put_number(z, 0, 2);
}

static void add_digest(Text *t, const void *data, size_t bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t digest[33] = {0};
    sha256(data, bytes, digest);
    for (int bit = 0; bit < 256; bit += 6) {
        unsigned two = (unsigned)digest[bit / 8] << 8 | digest[bit / 8 + 1];
        text_add(t, "%c", digits[two >> (10 - bit % 8) & 63]);
    }
}

static void add_member(Zip *z, const char *name, const void *data, size_t bytes) {
    Member *m = &z->members[z->n++];
    *m = (Member){.name = name, .data = data, .bytes = bytes, .offset = (uint64_t)ftello(z->file)};
    m->crc = (uint32_t)crc32_z(0, data, bytes);
    put(z, "PK\3\4", 4);
    put_fields(z, m);
    put(z, name, strlen(name));
    put(z, data, bytes);
    text_add(&z->record, "%s,sha256=", name);
    add_digest(&z->record, data, bytes);
    text_add(&z->record, ",%zu\n", bytes);
}

static void put_directory(Zip *z) {
    uint64_t start = (uint64_t)ftello(z->file);
    for (int i = 0; i < z->n; i++) {
        const Member *m = &z->members[i];
        put(z, "PK\1\2\24\3", 6);  // made by Unix
        put_fields(z, m);
        put_number(z, 0, 2 + 2 + 2);                // no comment, the first disk, binary
        put_number(z, (uint64_t)0100644 << 16, 4);  // permissions
        put_number(z, m->offset, 4);
        put(z, m->name, strlen(m->name));
    }
    uint64_t end = (uint64_t)ftello(z->file);
    put(z, "PK\5\6\0\0\0\0", 8);
    put_number(z, (uint64_t)z->n, 2);
    put_number(z, (uint64_t)z->n, 2);
    put_number(z, end - start, 4);
    put_number(z, start, 4);
    put_number(z, OUTPUT_MARK_BYTES, 2);  // the mark is the comment
}

static void add_text(Zip *z, const char *name, const char *text) {
    add_member(z, name, text, strlen(text));
}

void wheel_write(Arena *arena, const Wheel *w, const char *path) {
    Zip z = {.path = path, .file = fopen(path, "wb")};
    const char *info = arena_printf(arena, "%s.dist-info", stem_of(arena, w)),
               *record = arena_printf(arena, "%s/RECORD", info);
    uint64_t bytes;
    const void *library = mapping_open(w->library, &bytes);
    if (!z.file) diag_fatal(NO_LOC, "cannot write %s", path);
    add_text(&z, arena_printf(arena, "%s/__init__.py", w->name), w->module);
    add_text(&z, arena_printf(arena, "%s/py.typed", w->name), "");
    add_member(&z, arena_printf(arena, "%s/%s", w->name, w->file), library, bytes);
    add_text(
        &z, arena_printf(arena, "%s/METADATA", info),
        arena_printf(arena,
                     "Metadata-Version: 2.1\nName: %s\nVersion: 1.0+i%s\nSummary: The model %s, "
                     "compiled by burin\nRequires-Python: >=3.9\n",
                     w->name, w->identity, w->name));
    add_text(&z, arena_printf(arena, "%s/WHEEL", info),
             arena_printf(arena,
                          "Wheel-Version: 1.0\nGenerator: burin %s\nRoot-Is-Purelib: false\nTag: "
                          "%s\n",
                          BURIN_VERSION, tag_of(arena, w)));
    text_add(&z.record, "%s,,\n", record);
    add_member(&z, record, arena_strndup(arena, z.record.data, z.record.length), z.record.length);
    put_directory(&z);
    if (fclose(z.file)) diag_fatal(NO_LOC, "cannot write %s", path);
    text_free(&z.record);
}
