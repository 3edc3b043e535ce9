// Machines that programs can be for: one row a machine, and what building and running for it takes
// here.
#ifndef BURIN_MACHINE_H
#define BURIN_MACHINE_H
#include <stdbool.h>

#include "util/arena.h"

typedef struct Machine {
    const char *triple, *architecture;
    const char *cpu;  // of code that must run on all of its CPUs
    int address_bits, elf_machine;
    const char *emulated;  // the CPU that qemu is to be, with all its features; NULL: a machine
                           // without an operating system; for Windows "wine"
    const char *gcc, *library;  // the packages of its gcc and of its C library
    const char *help;
} Machine;

extern const Machine machines[];
extern const int n_machines;

// Unsupported targets that people ask for: a name, patterns (fnmatch), the reason, and the nearest
// supported one.
typedef struct OtherMachine {
    const char *name, *patterns, *why, *instead;
} OtherMachine;

extern const OtherMachine other_machines[];
extern const int n_other_machines;

// By its triple (NULL: this machine). Ends the run when it is unknown (status 2).
const Machine *machine_find(const char *triple);
// For an unknown machine name: suggests another.
_Noreturn void machine_refuse(const char *name);
bool machine_is_native(const Machine *);  // programs for it run here
bool machine_has_musl(const Machine *);
bool machine_is_windows(const Machine *);
const char *machine_ending(const Machine *);  // of its programs' names: ".exe", or ""
bool machine_is_bare(const Machine *);        // no operating system: libraries alone, of one CPU

// A file or a program that work for a machine takes, and the package that brings it.
typedef struct Requirement {
    const char *what, *place, *package;
    bool builds;  // required to build; otherwise to link or run the result
    bool there;
} Requirement;

// Where the headers of its C library are on this machine, as Debian has them.
const char *machine_headers(Arena *, const Machine *);

enum { MAX_REQUIREMENTS = 4 };
Requirement machine_emulator(Arena *, const Machine *);
int machine_requirements(Arena *, const Machine *, Requirement list[MAX_REQUIREMENTS]);
// The file whose absence here keeps programs for the machine from being linked; NULL: they can be.
const char *machine_lacks(Arena *, const Machine *);
// All packages for building, as words.
const char *machine_packages(Arena *, const Machine *);
#endif
