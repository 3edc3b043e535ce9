// tool_calls TEMPLATE ANSWER: the calls of tools in an answer, as a program prints them, and how many bytes stand before them.
#include "program/tool_calls.h"

#include <stdio.h>
#include <string.h>

#include "program/output.h"

int main(int argc, char **argv) {
    size_t content;
    if (argc != 3) return fprintf(stderr, "usage: tool_calls TEMPLATE ANSWER\n"), 2;
    int n = burin_print_tool_calls(burin_tool_form_of(argv[1], strlen(argv[1])), argv[2], strlen(argv[2]), &content);
    burin_print("\n%d %zu\n", n, content);
    burin_flush();
    return 0;
}
