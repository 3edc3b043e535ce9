// Every section is a node: a function with the size of its frame (.stack_sizes), or data that may
// hold addresses of functions. Every relocation is an edge: a function may call each function it
// names, directly, by a table or through a pointer. So the longest path is a bound for any
// pointers; functions of the C library (memcpy ...) add LIBRARY_CALL bytes to each call that leaves
// the objects.
#include "toolchain/footprint.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/files.h"
#include "util/text.h"

typedef struct Object {
    const unsigned char *data;
    const Elf32_Ehdr *header;
    const Elf32_Shdr *sections;
    const Elf32_Sym *symbols;
    const char *names;     // of symbols
    int n_symbols, first;  // first: the node of section 0
} Object;

typedef enum { NOT_SEEN, ON_PATH, DONE } Visit;

// Above what newlib's functions take that libraries call (tests/arm/boards.sh measures them).
enum { LIBRARY_CALL = 128 };

typedef struct Node {
    const Object *object;
    int section;
    uint64_t frame, depth;  // bytes; depth: with all that it calls
    Visit visit;
} Node;

typedef struct Calls {
    Object *objects;
    Node *nodes;
    int n_objects;
    const char *endless;  // of the file's bytes
    Arena *arena;
} Calls;

static const unsigned char *contents(const Object *o, int section) {
    return o->data + o->sections[section].sh_offset;
}

static const char *section_name(const Object *o, int section) {
    return (const char *)contents(o, o->header->e_shstrndx) + o->sections[section].sh_name;
}

static Object read_object(const char *path, int first) {
    size_t size;
    Object o = {.data = (const unsigned char *)read_text_file(path, &size), .first = first};
    o.header = (const Elf32_Ehdr *)o.data;
    if (size < sizeof *o.header || memcmp(o.header->e_ident, ELFMAG, SELFMAG) ||
        o.header->e_ident[EI_CLASS] != ELFCLASS32) {
        fprintf(stderr, "%s is no object of 32 bits\n", path);
        abort();
    }
    o.sections = (const Elf32_Shdr *)(o.data + o.header->e_shoff);
    for (int i = 0; i < o.header->e_shnum; i++) {
        if (o.sections[i].sh_type != SHT_SYMTAB) continue;
        o.symbols = (const Elf32_Sym *)contents(&o, i),
        o.n_symbols = (int)(o.sections[i].sh_size / sizeof *o.symbols);
        o.names = (const char *)contents(&o, (int)o.sections[i].sh_link);
    }
    return o;
}

// ------------------------------------------------------------------------------------------ frames
// Entries are an address and a ULEB128; a section of one function has one.
static uint64_t frame_bytes(const unsigned char *entry) {
    uint64_t bytes = 0;
    entry += sizeof(Elf32_Addr);
    for (int shift = 0;; shift += 7) {
        bytes |= (uint64_t)(*entry & 127) << shift;
        if (!(*entry++ & 128)) return bytes;
    }
}

static void read_frames(Calls *c, const Object *o) {
    for (int i = 0; i < o->header->e_shnum; i++) {
        Node *node = &c->nodes[o->first + i];
        node->object = o, node->section = i;
        if (!strcmp(section_name(o, i), ".stack_sizes"))
            c->nodes[o->first + (int)o->sections[i].sh_link].frame = frame_bytes(contents(o, i));
    }
}

// ------------------------------------------------------------------------------------------- edges
static Node *defined_as(Calls *c, const char *name) {
    for (int i = 0; i < c->n_objects; i++) {
        const Object *o = &c->objects[i];
        for (int j = 0; j < o->n_symbols; j++) {
            const Elf32_Sym *s = &o->symbols[j];
            if (ELF32_ST_BIND(s->st_info) != STB_LOCAL && s->st_shndx &&
                s->st_shndx < SHN_LORESERVE && !strcmp(o->names + s->st_name, name))
                return &c->nodes[o->first + s->st_shndx];
        }
    }
    return NULL;
}

// NULL: of the C library, or the weights
static Node *symbol_node(Calls *c, const Object *o, int symbol) {
    const Elf32_Sym *s = &o->symbols[symbol];
    if (s->st_shndx && s->st_shndx < SHN_LORESERVE) return &c->nodes[o->first + s->st_shndx];
    return s->st_shndx ? NULL : defined_as(c, o->names + s->st_name);
}

static uint64_t depth_of(Calls *c, Node *node);

static void follow(Calls *c, const Node *from, Node *to, uint64_t *deepest) {
    if (to == from) return;  // a loop, or a jump table
    if (!to) {
        if (*deepest < LIBRARY_CALL) *deepest = LIBRARY_CALL;
        return;
    }
    if (to->visit == ON_PATH) {
        const char *section = section_name(to->object, to->section), *dot = strrchr(section, '.');
        if (!c->endless) c->endless = dot ? dot + 1 : section;
        return;
    }
    uint64_t depth = depth_of(c, to);
    if (depth > *deepest) *deepest = depth;
}

// Relocations of machines that burin knows have no addends of their own (SHT_REL), or have
// (SHT_RELA).
static uint64_t depth_of(Calls *c, Node *node) {
    const Object *o = node->object;
    uint64_t deepest = 0;
    if (node->visit == DONE) return node->depth;
    node->visit = ON_PATH;
    for (int i = 0; i < o->header->e_shnum; i++) {
        const Elf32_Shdr *s = &o->sections[i];
        bool addends = s->sh_type == SHT_RELA;
        if ((s->sh_type != SHT_REL && !addends) || (int)s->sh_info != node->section) continue;
        size_t one = addends ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
        for (size_t at = 0; at < s->sh_size; at += one) {
            const Elf32_Rel *r = (const Elf32_Rel *)(contents(o, i) + at);
            follow(c, node, symbol_node(c, o, (int)ELF32_R_SYM(r->r_info)), &deepest);
        }
    }
    node->visit = DONE;
    return node->depth = node->frame + deepest;
}

// --------------------------------------------------------------------------------------- the whole
static bool is_forward(const char *name, const char *symbol) {
    size_t n = strlen(name);
    return !strncmp(symbol, name, n) &&
           (!strcmp(symbol + n, "_forward") || !strcmp(symbol + n, "_run"));
}

// The public functions of the interface, those that are not hidden: NAME_forward and NAME_run, or
// all others
static StackNeed deepest_call(Calls *c, const char *name, bool forward) {
    StackNeed need = {0};
    c->endless = NULL;
    for (int i = 0; i < c->n_objects; i++) {
        const Object *o = &c->objects[i];
        for (int j = 0; j < o->n_symbols; j++) {
            const Elf32_Sym *s = &o->symbols[j];
            bool is_call = ELF32_ST_TYPE(s->st_info) == STT_FUNC &&
                           ELF32_ST_BIND(s->st_info) == STB_GLOBAL &&
                           ELF32_ST_VISIBILITY(s->st_other) == STV_DEFAULT && s->st_shndx;
            if (!is_call || is_forward(name, o->names + s->st_name) != forward) continue;
            uint64_t depth = depth_of(c, &c->nodes[o->first + s->st_shndx]);
            if (depth > need.bytes) need.bytes = depth;
        }
    }
    need.endless = c->endless ? arena_strdup(c->arena, c->endless) : NULL;
    return need;
}

Footprint footprint_of(Arena *arena, const Objects *objects, const char *name) {
    Footprint f = {0};
    Calls c = {
        .objects = ARENA_ARRAY(arena, Object, objects->n), .n_objects = objects->n, .arena = arena};
    int n = 0;
    for (int i = 0; i < objects->n; i++) {
        c.objects[i] = read_object(objects->paths[i], n);
        n += c.objects[i].header->e_shnum;
    }
    c.nodes = ARENA_ARRAY(arena, Node, n);
    for (int i = 0; i < objects->n; i++) {
        const Object *o = &c.objects[i];
        read_frames(&c, o);
        for (int j = 0; j < o->header->e_shnum; j++)
            if (o->sections[j].sh_flags & SHF_ALLOC && o->sections[j].sh_type != SHT_NOBITS)
                f.code += o->sections[j].sh_size;
    }
    f.forward = deepest_call(&c, name, true), f.other = deepest_call(&c, name, false);
    for (int i = 0; i < objects->n; i++) free((void *)c.objects[i].data);
    return f;
}
