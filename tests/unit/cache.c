// Seals of the cache, and who may write to a folder.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain/private_folder.h"
#include "toolchain/seal.h"
#include "unit.h"
#include "util/arena.h"

// The key 00 01 ... 0f and the messages "", 00, 00 01, ... of the paper on SipHash and its authors'
// test vectors
static void hashes_as_published(void) {
    static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    unsigned char message[15];
    for (unsigned char i = 0; i < sizeof message; i++) message[i] = i;
    CHECK(keyed_hash(key, message, 0) == 0x726fdb47dd0e0e31);
    CHECK(keyed_hash(key, message, 1) == 0x74f839c593dc67fd);
    CHECK(keyed_hash(key, message, 8) == 0x93f5f5799a932462);
    CHECK(keyed_hash(key, message, 15) == 0xa129ca6149be45e5);
}

static char *new_folder(char *path) {
    snprintf(path, 100, "/tmp/burin-unit.XXXXXX");
    return mkdtemp(path);
}

static void knows_private_folders(void) {
    char base[100], inner[200], deep[300];
    Arena *arena = arena_new();
    CHECK(new_folder(base) != NULL);
    snprintf(inner, sizeof inner, "%s/a", base);
    snprintf(deep, sizeof deep, "%s/b", inner);
    mode_t before = umask(0777);
    CHECK(make_private_folders(deep));
    umask(before);
    struct stat s;
    CHECK(!stat(deep, &s) && (s.st_mode & 07777) == 0700);
    CHECK(folder_of_strangers(arena, deep) == NULL);
    chmod(inner, 0770);
    CHECK_TEXT(folder_of_strangers(arena, deep), inner);
    chmod(inner, 01777);  // other users can write, but only rename their own files
    CHECK(folder_of_strangers(arena, deep) == NULL);
    chmod(inner, 0700);
    chmod(deep, 01770);
    CHECK_TEXT(folder_of_strangers(arena, deep), deep);
    chmod(deep, 0755);
    CHECK(folder_of_strangers(arena, deep) == NULL);
    if (!geteuid()) {
        CHECK(!chown(inner, 1, 0));
        CHECK_TEXT(folder_of_strangers(arena, deep), inner);
    }
    rmdir(deep);
    rmdir(inner);
    rmdir(base);
    arena_free(arena);
}

static void seals_with_a_secret(void) {
    char base[100], file[300], moved[300], kind[200], seal[310];
    Arena *arena = arena_new();
    CHECK(new_folder(base) != NULL);
    CHECK(seal_open(arena, base));
    snprintf(kind, sizeof kind, "%s/objects/0123456789abcdef", base);
    CHECK(make_private_folders(kind));
    snprintf(file, sizeof file, "%s/x.o", kind);
    snprintf(moved, sizeof moved, "%s/y.o", kind);
    CHECK(write_private(file, "bytes", 5) && seal_write(arena, file) && seal_fits(arena, file));
    struct stat s;
    CHECK(!stat(file, &s) && (s.st_mode & 07777) == 0600);
    snprintf(seal, sizeof seal, "%s.sum", file);
    CHECK(!stat(seal, &s) && (s.st_mode & 07777) == 0600);
    chmod(seal, 0660);
    CHECK(!seal_fits(arena, file));
    chmod(seal, 0600);
    chmod(file, 0602);
    CHECK(!seal_fits(arena, file));
    CHECK(write_private(file, "bytez", 5) && !seal_fits(arena, file));
    CHECK(write_private(file, "bytes", 5) && seal_fits(arena, file));
    CHECK(!rename(file, moved));
    snprintf(seal, sizeof seal, "%s.sum", moved);
    char old[310];
    snprintf(old, sizeof old, "%s.sum", file);
    CHECK(!rename(old, seal) && !seal_fits(arena, moved));  // a seal is of one place
    CHECK(seal_write(arena, moved) && seal_fits(arena, moved));
    char secret[200];
    snprintf(secret, sizeof secret, "%s/secret", base);
    CHECK(!stat(secret, &s) && (s.st_mode & 07777) == 0600 && s.st_size == 16);
    CHECK(write_private(secret, "another secret..", 16) && seal_open(arena, base) &&
          !seal_fits(arena, moved));
    chmod(secret, 0640);
    CHECK(seal_open(arena, base));
    chmod(secret, 0620);
    CHECK(!seal_open(arena, base));
    char clean[200];
    snprintf(clean, sizeof clean, "rm -r %s", base);
    CHECK(!system(clean));
    arena_free(arena);
}

SUITE(cache) {
    TEST(hashes_as_published);
    TEST(knows_private_folders);
    TEST(seals_with_a_secret);
}
