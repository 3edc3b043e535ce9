// burin: options, then the pipeline as one readable function.
#include <stdio.h>

int main(void) {
    fputs("burin: usage: burin build MODEL\n", stderr);
    return 2;
}
