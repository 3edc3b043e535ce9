#include "text/shown_prompt.h"

#include <stdlib.h>
#include <string.h>

#include "program/input.h"
#include "program/output.h"
#include "text/modes.h"
#include "text/prompt.h"

int32_t burin_see_file(burin_run *run, const char *path) {
    size_t bytes;
    const char *why;
    uint8_t *file = burin_read_bytes(path, BURIN_MOST_PICTURE, &bytes);
    int32_t number = run->model->modes->see(run, file, bytes, &why);
    if (number < 0) burin_stop(BURIN_USER_MISTAKE, "%s: %s", path, why);
    free(file);
    return number;
}

// The prompt, with a mark for each picture before it unless it has marks.
static char *text_with_marks(const burin_run *run, size_t *bytes) {
    const burin_eyes *e = run->model->eyes;
    const burin_command *c = run->command;
    char *text = burin_prompt_text(c, bytes);
    int32_t marks = burin_count_marks(e, text, NULL, *bytes);
    if (marks && marks != c->images.n)
        burin_stop(BURIN_USER_MISTAKE, "the prompt has %d times %s, and there are %d pictures",
                   marks, e->mark, c->images.n);
    if (marks) return text;
    size_t each = strlen(e->mark), before = each * (size_t)c->images.n;
    char *all = burin_allocate(1, before + *bytes + 1);
    for (int i = 0; i < c->images.n; i++) memcpy(all + (size_t)i * each, e->mark, each);
    memcpy(all + before, text, *bytes);
    *bytes += before;
    free(text);
    return all;
}

// The text with its end, after the last mark, as the pattern has it: "@" is that end, "%n" a
// newline.
static char *text_of_pattern(const burin_eyes *e, char *text, size_t *bytes) {
    size_t end = 0, mark = strlen(e->mark), n = 0;
    for (size_t i = 0; i + mark <= *bytes; i++)
        if (!memcmp(text + i, e->mark, mark)) end = i + mark;
    char *all = burin_allocate(1, *bytes + strlen(e->prompt) + 1);
    memcpy(all, text, n = end);
    for (const char *c = e->prompt; *c; c++) {
        if (*c == '@')
            memcpy(all + n, text + end, *bytes - end), n += *bytes - end;
        else if (*c == '%' && c[1] == 'n')
            all[n++] = '\n', c++;
        else
            all[n++] = *c;
    }
    free(text);
    *bytes = n;
    return all;
}

burin_tokens burin_read_shown_prompt(burin_run *run, bool *empty) {
    int32_t pictures[BURIN_MOST_OF_LIST];
    burin_shown shown = {.sights = &run->sights, .pictures = pictures, .n = run->command->images.n};
    size_t bytes;
    burin_tokens tokens;
    *empty = false;
    for (int i = 0; i < shown.n; i++)
        pictures[i] = burin_see_file(run, run->command->images.text[i]);
    char *text = text_with_marks(run, &bytes);
    const char *pattern = run->model->eyes->prompt;
    if (pattern) text = text_of_pattern(run->model->eyes, text, &bytes);
    const char *why = burin_place_pictures(burin_tokenizer_of(run->model), run->model->eyes, &shown,
                                           text, NULL, bytes, !pattern, &tokens);
    if (why) burin_stop(BURIN_USER_MISTAKE, "%s", why);
    free(text);
    return tokens;
}
