#include "toolchain/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/checksum.h"
#include "engine/integrity.h"
#include "toolchain/process.h"
#include "util/files.h"

enum { ALIGNMENT = 64, PAGE = 65536, SMALL_PAGE = 4096, CHUNK = 1 << 20 };

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

Image image_of(const Program *p, const Tokenizer *t, CompiledTemplate chat) {
    Image image = {.program = p, .tokenizer = t, .chat = chat};
    image.tokenizer_offset = round_up(program_weight_bytes(p), ALIGNMENT);
    image.template_offset = round_up(image.tokenizer_offset + (t ? t->bytes : 0), ALIGNMENT);
    image.sums_offset = round_up(image.template_offset + chat.bytes, ALIGNMENT);
    if (!image.sums_offset) image.sums_offset = ALIGNMENT;  // 0: there are none
    image.bytes = image.sums_offset + ALIGNMENT;
    return image;
}

// ----------------------------------------------------------------------------------- writing files
// Buffered; chunks of zeros become holes of the file.
typedef struct Writer {
    int fd;
    const char *path;
    unsigned char *buffer;
    size_t held;
    uint64_t at, total;  // total: expected bytes, for progress
    const char *step;    // the same
    burin_checksum sum;  // since writer_sum
} Writer;

static _Noreturn void cannot_write(const Writer *w) {
    diag_fatal(NO_LOC, "cannot write %s: %s", w->path, strerror(errno));
}

static Writer writer_open(const char *path, int flags, uint64_t total) {
    Writer w = {.fd = open(path, flags, 0666), .path = path, .total = total, .step = "writing"};
    if (w.fd < 0) cannot_write(&w);
    if (!(w.buffer = malloc(CHUNK))) diag_fatal(NO_LOC, "out of memory");
    return w;
}

static bool all_zero(const unsigned char *p, size_t n) {
    return n && !p[0] && !memcmp(p, p + 1, n - 1);
}

static void writer_flush(Writer *w) {
    if (all_zero(w->buffer, w->held)) {
        if (lseek(w->fd, (off_t)w->held, SEEK_CUR) < 0) cannot_write(w);
    } else {
        for (size_t done = 0; done < w->held;) {
            ssize_t n = write(w->fd, w->buffer + done, w->held - done);
            if (n < 0 && errno != EINTR) cannot_write(w);
            if (n > 0) done += (size_t)n;
        }
    }
    w->held = 0;
    if (w->total) progress_bytes(w->step, w->at, w->total);
}

static void writer_put(Writer *w, const void *bytes, size_t n) {
    const unsigned char *from = bytes;
    w->at += n;
    while (n) {
        size_t part = n < CHUNK - w->held ? n : CHUNK - w->held;
        unsigned char *to = w->buffer + w->held;
        if (from) {
            memcpy(to, from, part);
            from += part;
        } else {
            memset(to, 0, part);
        }
        burin_checksum_add(&w->sum, to, part);
        n -= part;
        if ((w->held += part) == CHUNK) writer_flush(w);
    }
}

static void writer_zeros(Writer *w, uint64_t n) { writer_put(w, NULL, n); }

static void writer_seek(Writer *w, uint64_t offset) {
    if (w->held) writer_flush(w);
    if (lseek(w->fd, (off_t)offset, SEEK_SET) < 0) cannot_write(w);
    w->at = offset;
}

static void writer_close(Writer *w) {
    if (w->held) writer_flush(w);
    off_t end = lseek(w->fd, 0, SEEK_CUR), size = lseek(w->fd, 0, SEEK_END);
    if (end > size && ftruncate(w->fd, end)) cannot_write(w);
    if (close(w->fd)) cannot_write(w);
    free(w->buffer);
    progress(NULL, 0);
}

static void put_chunk(void *writer, const void *bytes, size_t n) { writer_put(writer, bytes, n); }

// The part written since the last call.
static uint64_t writer_sum(Writer *w) {
    uint64_t sum = burin_checksum_end(&w->sum);
    w->sum = (burin_checksum){{0}, 0, {0}};
    return sum;
}

static void put_image(Writer *w, const Image *image) {
    burin_sums sums = {0};
    uint64_t start = w->at;
    w->step = image->step;
    writer_sum(w);
    weights_write(image->program, put_chunk, w);
    writer_zeros(w, image->tokenizer_offset - (w->at - start));
    sums.weights = writer_sum(w);
    if (image->tokenizer) writer_put(w, image->tokenizer->blob, image->tokenizer->bytes);
    writer_zeros(w, image->template_offset - (w->at - start));
    if (image->chat.blob) writer_put(w, image->chat.blob, image->chat.bytes);
    writer_zeros(w, image->sums_offset - (w->at - start));
    sums.tokenizer = writer_sum(w);
    writer_put(w, &sums, sizeof sums);
    writer_zeros(w, image->bytes - (w->at - start));
}

void image_write(const Image *image, const char *path) {
    Writer w = writer_open(path, O_WRONLY | O_CREAT | O_TRUNC, image->bytes);
    put_image(&w, image);
    writer_close(&w);
}

// ------------------------------------------------------------------------------------- executables
// The headers of a linked executable, as read and as changed.
typedef struct Executable {
    Elf64_Ehdr header;
    Elf64_Phdr *segments;
    Elf64_Shdr *sections;
    char *names;
    uint64_t size;
} Executable;

static void *read_part(int fd, const char *path, uint64_t offset, uint64_t bytes, uint64_t room) {
    char *part = calloc(1, bytes + room);
    if (!part) diag_fatal(NO_LOC, "out of memory");
    if (pread(fd, part, bytes, (off_t)offset) != (ssize_t)bytes)
        diag_fatal(NO_LOC, "cannot read %s back: %s", path, strerror(errno));
    return part;
}

static const char weights_section[] = ".burin.weights";

static Executable executable_read(const char *path) {
    Executable e;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || pread(fd, &e.header, sizeof e.header, 0) != sizeof e.header)
        diag_fatal(NO_LOC, "cannot read %s back: %s", path, strerror(errno));
    const Elf64_Ehdr *h = &e.header;
    e.size = (uint64_t)lseek(fd, 0, SEEK_END);
    e.segments = read_part(fd, path, h->e_phoff, h->e_phnum * sizeof *e.segments, 0);
    e.sections =
        read_part(fd, path, h->e_shoff, h->e_shnum * sizeof *e.sections, sizeof *e.sections);
    const Elf64_Shdr *names = &e.sections[h->e_shstrndx];
    e.names = read_part(fd, path, names->sh_offset, names->sh_size, sizeof weights_section);
    close(fd);
    return e;
}

// The largest page that a system may have
static uint64_t page_of(const Executable *e) {
    return e->header.e_machine == EM_X86_64 ? SMALL_PAGE : PAGE;
}

// Turns the PT_NOTE header, which nothing at run time reads, into a PT_LOAD after all others.
static void add_segment(Executable *e, const char *path, uint64_t offset, uint64_t bytes) {
    int n = e->header.e_phnum, note = -1, last = -1;
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R,
                          .p_offset = offset,
                          .p_vaddr = IMAGE_ADDRESS,
                          .p_paddr = IMAGE_ADDRESS,
                          .p_filesz = bytes,
                          .p_memsz = bytes,
                          .p_align = page_of(e)};
    for (int i = 0; i < n; i++) {
        if (e->segments[i].p_type == PT_NOTE) note = i;
        if (e->segments[i].p_type == PT_LOAD) last = i;
    }
    if (note < last || e->segments[last].p_vaddr + e->segments[last].p_memsz > IMAGE_ADDRESS)
        diag_fatal(NO_LOC, "%s: the linker left no room for the weights' segment", path);
    memmove(&e->segments[last + 2], &e->segments[last + 1],
            (size_t)(note - last - 1) * sizeof segment);
    e->segments[last + 1] = segment;
}

static void add_section(Executable *e, uint64_t offset, uint64_t bytes) {
    Elf64_Shdr *names = &e->sections[e->header.e_shstrndx],
               *section = &e->sections[e->header.e_shnum++];
    memcpy(e->names + names->sh_size, weights_section, sizeof weights_section);
    *section = (Elf64_Shdr){.sh_name = (uint32_t)names->sh_size,
                            .sh_type = SHT_PROGBITS,
                            .sh_flags = SHF_ALLOC,
                            .sh_addr = IMAGE_ADDRESS,
                            .sh_offset = offset,
                            .sh_size = bytes,
                            .sh_addralign = ALIGNMENT};
    names->sh_size += sizeof weights_section;
    names->sh_offset = offset + bytes;
    e->header.e_shoff = round_up(names->sh_offset + names->sh_size, 8);
}

// Names of sections and their table follow the image.
static void put_tables(Writer *w, const Executable *e) {
    const Elf64_Shdr *names = &e->sections[e->header.e_shstrndx];
    writer_put(w, e->names, names->sh_size);
    writer_zeros(w, e->header.e_shoff - w->at);
    writer_put(w, e->sections, e->header.e_shnum * sizeof *e->sections);
    writer_seek(w, 0);
    writer_put(w, &e->header, sizeof e->header);
    writer_seek(w, e->header.e_phoff);
    writer_put(w, e->segments, e->header.e_phnum * sizeof *e->segments);
}

static void executable_free(Executable *e) { free(e->segments), free(e->sections), free(e->names); }

void image_append(const Image *image, const Image *draft, const char *path) {
    Executable e = executable_read(path);
    uint64_t offset = round_up(e.size, page_of(&e)),
             bytes = image->bytes + (draft ? draft->bytes : 0);
    add_segment(&e, path, offset, bytes);
    add_section(&e, offset, bytes);
    Writer w = writer_open(path, O_WRONLY, offset + bytes);
    writer_seek(&w, offset);
    put_image(&w, image);
    if (draft) put_image(&w, draft);
    put_tables(&w, &e);
    writer_close(&w);
    executable_free(&e);
}

static Elf64_Phdr *image_segment(const Executable *e, const char *path) {
    for (int i = 0; i < e->header.e_phnum; i++)
        if (e->segments[i].p_type == PT_LOAD && e->segments[i].p_vaddr == IMAGE_ADDRESS)
            return &e->segments[i];
    diag_fatal(NO_LOC, "cannot read %s back: it has no weights", path);
}

// The image grows at its end, which the tables of the file follow: they are written again.
void image_add_prompt(const Image *image, const ImagePrompt *p, const char *path) {
    Executable e = executable_read(path);
    Elf64_Phdr *segment = image_segment(&e, path);
    Elf64_Shdr *section = &e.sections[e.header.e_shnum - 1],
               *names = &e.sections[e.header.e_shstrndx];
    burin_sums sums;
    uint64_t sums_at = segment->p_offset + image->sums_offset,
             at = round_up(segment->p_filesz, ALIGNMENT);
    Writer w = writer_open(path, O_RDWR, 0);
    if (pread(w.fd, &sums, sizeof sums, (off_t)sums_at) != (ssize_t)sizeof sums)
        diag_fatal(NO_LOC, "cannot read %s back: %s", path, strerror(errno));
    sums.prompt = at, sums.prompt_bytes = p->session_bytes, sums.system_bytes = p->system_bytes;
    writer_seek(&w, sums_at);
    writer_put(&w, &sums, sizeof sums);
    writer_seek(&w, segment->p_offset + segment->p_filesz);
    writer_zeros(&w, at - segment->p_filesz);
    writer_put(&w, p->session, p->session_bytes);
    if (p->system_bytes) writer_put(&w, p->system, p->system_bytes);
    writer_zeros(&w, 1);
    segment->p_filesz = segment->p_memsz = section->sh_size = w.at - segment->p_offset;
    names->sh_offset = w.at;
    e.header.e_shoff = round_up(names->sh_offset + names->sh_size, 8);
    put_tables(&w, &e);
    writer_close(&w);
    executable_free(&e);
}

// Where the last section of an executable of Windows ends in its file.
static uint64_t end_of_sections(const char *path) {
    enum {
        HEADERS_AT = 60,
        N_SECTIONS = 6,
        OPTIONAL_BYTES = 20,
        FIRST = 24,
        SECTION_BYTES = 40,
        RAW_BYTES = 16
    };
    uint32_t at, raw[2];  // of a section: how many bytes, and where
    uint16_t n, optional;
    size_t size;
    uint64_t end = 0;
    char *file = read_text_file(path, &size);
    memcpy(&at, file + HEADERS_AT, sizeof at);
    memcpy(&n, file + at + N_SECTIONS, sizeof n);
    memcpy(&optional, file + at + OPTIONAL_BYTES, sizeof optional);
    for (int i = 0; i < n; i++) {
        memcpy(raw, file + at + FIRST + optional + i * SECTION_BYTES + RAW_BYTES, sizeof raw);
        if ((uint64_t)raw[0] + raw[1] > end) end = (uint64_t)raw[0] + raw[1];
    }
    free(file);
    return end;
}

void image_append_behind(const Image *image, const Image *draft, const char *executable) {
    uint64_t offset = round_up(end_of_sections(executable), PAGE);
    Writer w =
        writer_open(executable, O_WRONLY, offset + image->bytes + (draft ? draft->bytes : 0));
    writer_seek(&w, offset);
    put_image(&w, image);
    if (draft) put_image(&w, draft);
    writer_close(&w);
}

// ----------------------------------------------------------------------------------------- objects
typedef enum {
    SECTION_NONE,
    SECTION_DATA,
    SECTION_SYMBOLS,
    SECTION_STRINGS,
    SECTION_NAMES,
    SECTION_STACK,
    SECTION_COUNT
} ObjectSection;

// SHF_X86_64_LARGE
#define LARGE_SECTION 0x10000000
static const char object_names[] = "\0.lrodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
enum { NAME_LARGE = 1, NAME_SYMBOLS = 10, NAME_STRINGS = 18, NAME_NAMES = 26, NAME_STACK = 36 };

static void put_section_table(Writer *w, const Image *image, bool large, uint64_t symbols,
                              uint64_t strings, uint64_t string_bytes) {
    Elf64_Shdr s[SECTION_COUNT] = {0};
    s[SECTION_DATA] = (Elf64_Shdr){.sh_name = NAME_LARGE,
                                   .sh_type = SHT_PROGBITS,
                                   .sh_flags = SHF_ALLOC | (large ? LARGE_SECTION : 0),
                                   .sh_offset = ALIGNMENT,
                                   .sh_size = image->bytes,
                                   .sh_addralign = ALIGNMENT};
    s[SECTION_SYMBOLS] = (Elf64_Shdr){.sh_name = NAME_SYMBOLS,
                                      .sh_type = SHT_SYMTAB,
                                      .sh_offset = symbols,
                                      .sh_size = 2 * sizeof(Elf64_Sym),
                                      .sh_link = SECTION_STRINGS,
                                      .sh_info = 1,
                                      .sh_addralign = 8,
                                      .sh_entsize = sizeof(Elf64_Sym)};
    s[SECTION_STRINGS] = (Elf64_Shdr){.sh_name = NAME_STRINGS,
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = strings,
                                      .sh_size = string_bytes,
                                      .sh_addralign = 1};
    s[SECTION_NAMES] = (Elf64_Shdr){.sh_name = NAME_NAMES,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = strings + string_bytes,
                                    .sh_size = sizeof object_names,
                                    .sh_addralign = 1};
    s[SECTION_STACK] = (Elf64_Shdr){
        .sh_name = NAME_STACK, .sh_type = SHT_PROGBITS, .sh_offset = strings, .sh_addralign = 1};
    writer_put(w, s, sizeof s);
}

bool image_write_object(const Image *image, const char *architecture, const char *symbol,
                        const char *path) {
    bool x86 = !strcmp(architecture, "x86_64");
    if (!x86 && strcmp(architecture, "aarch64")) return false;
    uint64_t symbols = round_up(ALIGNMENT + image->bytes, 8),
             strings = symbols + 2 * sizeof(Elf64_Sym), string_bytes = strlen(symbol) + 2;
    Elf64_Sym table[2] = {{0},
                          {.st_name = 1,
                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                           .st_other = STV_HIDDEN,
                           .st_shndx = SECTION_DATA,
                           .st_size = image->bytes}};
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = x86 ? EM_X86_64 : EM_AARCH64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
        .e_shoff = round_up(strings + string_bytes + sizeof object_names, 8),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTION_COUNT,
        .e_shstrndx = SECTION_NAMES};
    _Static_assert(sizeof header == ALIGNMENT, "the data follows the header");
    Writer w = writer_open(path, O_WRONLY | O_CREAT | O_TRUNC, image->bytes);
    writer_put(&w, &header, sizeof header);
    put_image(&w, image);
    writer_zeros(&w, symbols - w.at);
    writer_put(&w, table, sizeof table);
    writer_put(&w, "", 1);
    writer_put(&w, symbol, strlen(symbol) + 1);
    writer_put(&w, object_names, sizeof object_names);
    writer_zeros(&w, header.e_shoff - w.at);
    put_section_table(&w, image, x86, symbols, strings, string_bytes);
    writer_close(&w);
    return true;
}
