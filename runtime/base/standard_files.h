// Standard input, output and error that whoever started the program has closed.
#ifndef BURIN_STANDARD_FILES_H
#define BURIN_STANDARD_FILES_H
#include <fcntl.h>
#include <unistd.h>

// Opens descriptors 0, 1 and 2 where they are closed: a file that is opened later would take their
// place, and messages would be written into it. Reading from 0 and writing to 1 and 2 stays an
// error.
static inline void burin_open_standard_files(void) {
    for (int file = 0; file <= 2; file++) {
        if (fcntl(file, F_GETFD) >= 0) continue;
        int opened = open("/dev/null", file ? O_RDONLY : O_WRONLY);
        if (opened < 0) opened = open("/", O_RDONLY);  // a root folder without devices
        if (opened != file) _exit(1);
    }
}
#endif
