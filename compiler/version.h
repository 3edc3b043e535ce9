// The version, and the key of the cache of built programs.
#ifndef BURIN_VERSION_H
#define BURIN_VERSION_H
#define BURIN_VERSION "0.1"
#endif
