// A host of story.h that writes text with the library's tokenizer and sampler, and saves its slot
// half way.
//   text_host write PROMPT SEED N    N tokens after the prompt, sampled like the program's
//   text_host chain PROMPT SEED N    the same, by all of the sampler's steps
//   text_host save PROMPT F N        N likeliest tokens; after half of them the slot is saved to F
//   text_host load F N               loads the slot, and continues with the second half
// save and load print ids, and a sum of all bits of the logits of the second half.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story.h"

enum { MOST = 512 };

static story_state state;
static float logits[story_VOCAB_SIZE];
static int32_t tokens[MOST];
static int n_tokens, decoder;
static unsigned long long sum;

static void check(long long status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "%s: %s\n", what, story_error_text((int)status));
    exit(1);
}

static void *memory_of(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }

static void open_state(void) {
    story_options options = {.threads = 1};
    size_t bytes = story_state_bytes(&options);
    check(story_init(&state, &options, memory_of(bytes), bytes), "story_init");
}

static void open_sampler(story_sampler *sampler, const story_sampling *settings) {
    size_t bytes = story_sampler_bytes();
    check(story_sampler_init(sampler, settings, memory_of(bytes), bytes), "story_sampler_init");
}

static void encode(const char *text) {
    void *memory = memory_of(story_encode_memory(strlen(text)));
    n_tokens = (int)story_encode(text, strlen(text), tokens, MOST / 2, memory);
    check(n_tokens, "story_encode");
    free(memory);
}

static void read_tokens(void) {
    story_row rows[MOST];
    int n = 0;
    for (int at = story_slot_length(&state, 0); at < n_tokens; at++)
        rows[n++] = (story_row){tokens[at], 0, at, at == n_tokens - 1};
    check(story_forward(&state, rows, n, logits), "story_forward");
}

static void add_bits(void) {
    for (int i = 0; i < story_VOCAB_SIZE; i++) {
        unsigned word;
        memcpy(&word, &logits[i], sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
}

static int is_end(int32_t token) {
    int32_t end[8];
    int n = story_end_tokens(end, 8);
    for (int i = 0; i < n; i++)
        if (end[i] == token) return 1;
    return 0;
}

static void write_text(const char *prompt, const story_sampling *settings, int count) {
    story_sampler sampler;
    char bytes[256];
    open_sampler(&sampler, settings);
    encode(prompt);
    for (int i = 0; i < n_tokens; i++) story_decode(&decoder, tokens[i], bytes);
    for (int i = 0; i < count; i++) {
        read_tokens();
        int32_t token = story_sample(&sampler, logits, tokens, n_tokens);
        check(token, "story_sample");
        if (is_end(token)) break;
        fwrite(bytes, 1, story_decode(&decoder, token, bytes), stdout);
        tokens[n_tokens++] = token;
    }
    printf("\n");
}

static void write_ids(int count, int counted) {
    story_sampler sampler;
    open_sampler(&sampler, &(story_sampling){.temperature = 0});
    for (int i = 0; i < count; i++) {
        read_tokens();
        if (counted) add_bits();
        tokens[n_tokens] = story_sample(&sampler, logits, tokens, n_tokens);
        if (counted) printf("%d ", tokens[n_tokens]);
        n_tokens++;
    }
}

static void save(const char *path) {
    size_t bytes = story_slot_saved_bytes(&state, 0);
    void *memory = malloc(bytes);
    FILE *f = fopen(path, "wb");
    check(story_slot_save(&state, 0, memory, bytes), "story_slot_save");
    fwrite(&n_tokens, sizeof n_tokens, 1, f);
    fwrite(tokens, sizeof *tokens, MOST, f);
    fwrite(memory, 1, bytes, f);
    fclose(f);
    free(memory);
}

static void load(const char *path) {
    static unsigned char memory[1 << 24];
    FILE *f = fopen(path, "rb");
    if (fread(&n_tokens, sizeof n_tokens, 1, f) != 1 ||
        fread(tokens, sizeof *tokens, MOST, f) != MOST)
        exit(2);
    size_t bytes = fread(memory, 1, sizeof memory, f);
    fclose(f);
    check(story_slot_load(&state, 0, memory, bytes), "story_slot_load");
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int count = atoi(argv[argc - 1]);
    open_state();
    if (!strcmp(argv[1], "write")) {
        story_sampling settings = {.temperature = 0.8,
                                   .top_k = 40,
                                   .top_p = 0.95,
                                   .min_p = 0.05,
                                   .seed = strtoull(argv[3], NULL, 10)};
        write_text(argv[2], &settings, count);
    } else if (!strcmp(argv[1], "chain")) {
        const story_bias bias[] = {{13, -2}, {260, 1.5f}};
        story_sampling settings = {.temperature = 1.1,
                                   .top_k = 200,
                                   .top_p = 0.98,
                                   .seed = strtoull(argv[3], NULL, 10),
                                   .presence_penalty = 0.2,
                                   .frequency_penalty = 0.1,
                                   .repeat_last_n = -1,
                                   .typical = 0.9,
                                   .xtc_probability = 0.5,
                                   .dynatemp_range = 0.4,
                                   .dry_multiplier = 0.8,
                                   .bias = bias,
                                   .n_bias = 2};
        write_text(argv[2], &settings, count);
    } else if (!strcmp(argv[1], "save")) {
        encode(argv[2]);
        write_ids(count / 2, 0);
        save(argv[3]);
        write_ids(count / 2, 1);
    } else {
        load(argv[2]);
        write_ids(count / 2, 1);
    }
    if (sum) printf("%016llx\n", sum);
    story_close(&state);
    return 0;
}
