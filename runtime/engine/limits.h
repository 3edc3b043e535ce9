// Sizes that a program's description has room for.
#ifndef BURIN_LIMITS_H
#define BURIN_LIMITS_H
enum { BURIN_MOST_EOS = 64 };  // tokens that end a text
#endif
