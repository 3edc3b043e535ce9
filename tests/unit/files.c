// Files of others: links, pipes, and a file that becomes shorter while it is mapped.
#include "util/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graphs.h"
#include "unit.h"
#include "util/mapping.h"

static char folder[] = "/tmp/burin-unit-XXXXXX";

static const char *in_folder(const char *name) {
    static char path[2][100];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_bytes(const char *path, int bytes) {
    FILE *f = fopen(path, "wb");
    for (int i = 0; i < bytes; i++) fputc('x', f);
    fclose(f);
}

static void fresh_folder(void) {
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static void links_are_removed_not_followed(void) {
    fresh_folder();
    CHECK(!mkdir(in_folder("kept"), 0700) && !mkdir(in_folder("gone"), 0700) &&
          !mkdir(in_folder("gone/deep"), 0700));
    write_bytes(in_folder("kept/file"), 1);
    write_bytes(in_folder("gone/deep/file"), 1);
    CHECK(!symlink(in_folder("kept"), in_folder("gone/deep/link")) &&
          !symlink(in_folder("kept"), in_folder("link")));
    CHECK(remove_tree(in_folder("gone")) && access(in_folder("gone"), F_OK));
    CHECK(remove_tree(in_folder("link")) && access(in_folder("link"), F_OK));
    CHECK(!access(in_folder("kept/file"), F_OK) && remove_tree(in_folder("nothing")) &&
          remove_tree(folder));
}

static void only_regular_files_are_opened(void) {
    uint64_t size;
    fresh_folder();
    write_bytes(in_folder("file"), 3);
    CHECK(!mkfifo(in_folder("fifo"), 0600) && !symlink(in_folder("file"), in_folder("link")));
    int fd = open_regular(in_folder("link"), &size);
    CHECK(fd >= 0 && size == 3 && !close(fd));
    CHECK(open_regular(in_folder("fifo"), &size) < 0 && errno == ENODEV);
    CHECK(open_regular("/dev/zero", &size) < 0 && errno == ENODEV);
    CHECK(open_regular(folder, &size) < 0 && errno == EISDIR);
    CHECK(create_output(in_folder("link"), O_WRONLY) < 0 && errno == ELOOP);
    CHECK(create_output(in_folder("fifo"), O_WRONLY) < 0);
    fd = create_output(in_folder("file"), O_WRONLY);
    CHECK(fd >= 0 && !close(fd) && (fd = open_regular(in_folder("file"), &size)) >= 0 && size == 0);
    close(fd);
    remove_tree(folder);
}

static bool reads_to_the_end(void *path) {
    uint64_t size;
    volatile const char *volatile bytes = mapping_open(path, &size);
    bool whole = false;
    if (!setjmp(*diag_guard())) whole = !truncate(path, 1) && bytes[size - 1] == 'x';
    diag_unguard();
    mapping_remove((const void *)bytes);
    return whole;
}

static void a_file_that_becomes_shorter_is_said(void) {
    bool whole;
    fresh_folder();
    write_bytes(in_folder("file"), 1 << 16);
    mapping_watch();
    char *message = stderr_of(reads_to_the_end, (void *)in_folder("file"), &whole);
    CHECK(!whole && strstr(message, "became shorter while it was read"));
    free(message);
    remove_tree(folder);
}

SUITE(files) {
    TEST(links_are_removed_not_followed);
    TEST(only_regular_files_are_opened);
    TEST(a_file_that_becomes_shorter_is_said);
}
