// How packages are installed on a system, by its /etc/os-release.
#include "toolchain/compiler.h"

#include "unit.h"

static void check_system(const char *os_release, const char *command) {
    Arena *arena = arena_new();
    const char *got = install_command(arena, os_release);
    CHECK_TEXT(got ? got : "none", command);
    arena_free(arena);
}

static void names_the_package_manager(void) {
    check_system("NAME=\"Debian GNU/Linux\"\nID=debian\n", "apt-get install");
    check_system("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt-get install");
    check_system("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install");
    check_system("VERSION_ID=41\nID=fedora", "dnf install");
    check_system("ID=manjaro\nID_LIKE=arch\n", "pacman -S");
    check_system("ID=alpine\n", "apk add");
    check_system("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", "zypper install");
    check_system("ID=haiku\n", "none");
    check_system("", "none");
}

SUITE(compiler) { TEST(names_the_package_manager); }
