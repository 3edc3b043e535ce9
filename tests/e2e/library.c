// Uses story.h, a model as a library: five greedy tokens after 0, 1114, 306.
#include <stdio.h>
#include <stdlib.h>

#include "story.h"

static float logits[story_VOCAB_SIZE];

static int likeliest(void) {
    int best = 0;
    for (int i = 1; i < story_VOCAB_SIZE; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int main(void) {
    story_options options = {.threads = 2};
    size_t bytes =
        (story_state_bytes(&options) + story_ALIGNMENT - 1) / story_ALIGNMENT * story_ALIGNMENT;
    story_state state;
    int status = story_init(&state, &options, aligned_alloc(story_ALIGNMENT, bytes), bytes);
    story_row rows[3] = {{.token = 0},
                         {.token = 1114, .position = 1},
                         {.token = 306, .position = 2, .wants_logits = true}};
    if (!status) status = story_forward(&state, rows, 3, logits);
    for (int i = 0; i < 5 && !status; i++) {
        story_row row = {.token = likeliest(), .position = 3 + i, .wants_logits = true};
        printf("%s%d", i ? "," : "", row.token);
        status = story_forward(&state, &row, 1, logits);
    }
    if (status) fprintf(stderr, "%s\n", story_error_text(status));
    printf("\n");
    return status != 0;
}
