// --help: the usual options by group; --help GROUP: all of one; --help-all: all.
#include <string.h>
#include <strings.h>

#include "program/option_groups.h"
#include "program/option_rows.h"
#include "program/output.h"

static const char introduction[] =
    "usage: %s [options] [prompt]\n"
    "%s, compiled: answers a prompt (an argument, -f FILE, a pipe);\n"
    "a model without a chat template continues it.\n"
    "\n"
    "  %s \"Once upon a time\" -n 100    a hundred tokens, sampled\n"
    "  %s \"Once upon a time\" --temp 0  always the likeliest token\n"
    "  %s \"Once upon a time\" --seed 7  the same text each time, on every machine\n"
    "\n";

static const char encoder_decoder_introduction[] =
    "usage: %s [options] [source]\n"
    "%s, compiled: reads a source (an argument, each line of -f FILE or of standard\n"
    "input, or --input where it is no text) and writes what its decoder makes of it:\n"
    "a translation, a summary, an answer. All else goes to standard error.\n"
    "\n"
    "  %s \"a text\"                      its result, always the likeliest token\n"
    "  %s -f lines.txt > results.txt    one line per line\n"
    "  %s \"a text\" --temp 0.8 --seed 7  sampled: the same text on every machine\n"
    "  %s --bench                       its speed here\n"
    "\n";

static const char transcriber_introduction[] =
    "usage: %s [options] recording.wav ...\n"
    "%s, compiled: writes the text of each recording (WAV, FLAC; - is standard\n"
    "input). All else goes to standard error.\n"
    "\n"
    "  %s talk.wav                        its text, in the spoken language\n"
    "  %s talk.wav --translate            its text in English\n"
    "  %s film.wav --srt > film.srt       subtitles\n"
    "  ffmpeg -i talk.mp3 -f wav - | %s -  any format that ffmpeg reads\n"
    "\n";

static const char listener_introduction[] =
    "usage: %s [options] recording ...\n"
    "%s, compiled: writes the text of each recording, or its likeliest label (WAV,\n"
    "FLAC; - is standard input). All else goes to standard error.\n"
    "\n"
    "  %s talk.wav             its text, or its label with the score\n"
    "  %s *.wav --format json  one JSON object per recording\n"
    "\n";

static const char classifier_introduction[] =
    "usage: %s [options] picture ...\n"
    "%s, compiled: writes labels, embedding, objects or fitting texts of each\n"
    "picture (- is standard input). All else goes to standard error.\n"
    "\n"
    "  %s photo.png --top-k 5  its five likeliest labels, with their scores\n"
    "  %s *.ppm --format json  one JSON object per picture\n"
    "\n";

static const char speaker_introduction[] =
    "usage: %s [options] text ...\n"
    "%s, compiled: says each text (arguments, lines of -f FILE, or of standard\n"
    "input).\n"
    "\n"
    "  %s \"Hello there.\" -o hello.wav      a WAV file\n"
    "  %s -f book.txt -o - | aplay         sentence by sentence\n"
    "  %s \"Hello there.\" --seed 7 | aplay  the same sound on every machine\n"
    "\n";

static const char network_introduction[] =
    "usage: %s [options]\n"
    "%s, compiled: computes its outputs from its inputs, which are .npy files.\n"
    "--info names them.\n"
    "\n"
    "  %s --input NAME=F.npy --output DIR  write DIR/OUTPUT.npy; without --output:\n"
    "                                      print the first values\n"
    "  %s --random --hash                  a 64-bit hash: the same on every machine\n"
    "  %s --bench                          its speed here\n"
    "\n";

static const char embedder_introduction[] =
    "usage: %s [options] [text ...]\n"
    "%s, compiled: prints the embedding of each text (arguments, lines of -f FILE,\n"
    "or of standard input).\n"
    "\n"
    "  %s \"a text\"                          its embedding\n"
    "  %s --similarity \"a text\" \"another\"  their cosine similarity\n"
    "  %s --rank \"a question\" -f lines.txt  the lines nearest to it\n"
    "  %s --format npy < lines.txt > e.npy  one row per line\n"
    "\n";

static const char labeller_introduction[] =
    "usage: %s [options] [text ...]\n"
    "%s, compiled: prints the labels of each text (arguments, lines of -f FILE, or\n"
    "of standard input) with their scores, spans of labels in it, or words for its\n"
    "masks, as the model's head decides.\n"
    "\n"
    "  %s \"a text\"                      its label\n"
    "  %s --pair \"a question\" \"a text\"  of a pair; in lines of a file a tab divides\n"
    "  %s --format json < lines.txt     one line per text, with all scores\n"
    "\n";

enum { COLUMNS = 80, TEXT_COLUMN = 30 };

// Prints a text from TEXT_COLUMN to COLUMNS in as many lines as it needs, broken at spaces.
static void print_wrapped(const char *text) {
    const int room = COLUMNS - TEXT_COLUMN;
    while ((int)strlen(text) > room) {
        int end = room;
        while (end && text[end] != ' ') end--;
        if (!end) break;
        burin_print("%.*s\n%*s", end, text, TEXT_COLUMN, "");
        text += end + 1;
    }
    burin_print("%s\n", text);
}

// One option: its group's name (the first of a group has it), names and argument, help. The usual
// options have one line each: the first clause of their help, and no second word.
static void print_option(const char *group, const option *o, bool all) {
    bool alias = o->alias && (all || o->name[1] != '-');
    const char *parts[] = {o->name, alias ? ", " : "", alias ? o->alias : "",
                           o->argument ? " " : "", o->argument ? o->argument : ""};
    char line[COLUMNS];
    int n = 0;
    for (; n < TEXT_COLUMN - 20; n++) line[n] = *group ? *group++ : ' ';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *s = parts[i]; *s && n < COLUMNS - 1; s++) line[n++] = *s;
    line[n] = 0;
    if (n < TEXT_COLUMN)
        burin_print("%-*s", TEXT_COLUMN, line);
    else
        burin_print("%s\n%*s", line, TEXT_COLUMN, "");
    if (all || !strchr(o->help, ';'))
        print_wrapped(o->help);
    else
        burin_print("%.*s\n", (int)strcspn(o->help, ";"), o->help);
}

// An option with several rows has one for each kind of program.
static bool is_of(burin_kind program, int row, const char *name) {
    return options[row].programs & program && !strcmp(options[row].name, name);
}

static bool is_named(const char *const *names, const char *name) {
    for (; *names; names++)
        if (!strcmp(*names, name)) return true;
    return false;
}

// --top-k is a sampler, and the number of texts or labels of other programs.
static const option_group *help_group_of(burin_kind program, const char *name) {
    for (int i = 0; i < N_OPTION_GROUPS; i++) {
        const option_group *g = &option_groups[i];
        bool other =
            !strcmp(g->name, "Sampling") ? !(program & G) : !strcmp(name, "--top-k") && program & G;
        if (!other && (is_named(g->usual, name) || is_named(g->others, name))) return g;
    }
    return &option_groups[N_OPTION_GROUPS - 1];
}

static int options_of_group(burin_kind program, const option_group *g) {
    int n = 0;
    for (int i = 0; i < N_OPTIONS; i++)
        n += options[i].programs & program && help_group_of(program, options[i].name) == g;
    return n;
}

static void print_group(burin_kind program, const option_group *g, bool all) {
    if (!options_of_group(program, g)) return;
    const char *heading = g->name;
    for (const char *const *name = g->usual; *name; name++)
        for (int i = 0; i < N_OPTIONS; i++)
            if (is_of(program, i, *name)) {
                print_option(heading, &options[i], all);
                heading = "";
            }
    for (int i = 0; i < N_OPTIONS && all; i++)
        if (options[i].programs & program && help_group_of(program, options[i].name) == g &&
            !is_named(g->usual, options[i].name)) {
            print_option(heading, &options[i], all);
            heading = "";
        }
}

static const option_group *find_group(burin_kind program, const char *name) {
    for (int i = 0; i < N_OPTION_GROUPS; i++)
        if (!strncasecmp(option_groups[i].name, name, strlen(name)) &&
            options_of_group(program, &option_groups[i]))
            return &option_groups[i];
    return NULL;
}

static void print_group_names(burin_kind program) {
    const char *before = "";
    for (int i = 0; i < N_OPTION_GROUPS; i++) {
        if (!options_of_group(program, &option_groups[i])) continue;
        burin_print("%s%s", before, option_groups[i].name);
        before = ", ";
    }
    burin_print("\n");
}

static void print_introduction(burin_kind program, const char *model_name) {
    const char *p = burin_program_name;
    if (program == BURIN_NETWORK)
        burin_print(network_introduction, p, model_name, p, p, p);
    else if (program == BURIN_LABELLER)
        burin_print(labeller_introduction, p, model_name, p, p, p);
    else if (program == BURIN_CLASSIFIER)
        burin_print(classifier_introduction, p, model_name, p, p);
    else if (program == BURIN_SPEAKER)
        burin_print(speaker_introduction, p, model_name, p, p, p);
    else if (program == BURIN_LISTENER)
        burin_print(listener_introduction, p, model_name, p, p);
    else if (program == BURIN_TRANSCRIBER)
        burin_print(transcriber_introduction, p, model_name, p, p, p, p);
    else if (program == BURIN_EMBEDDER)
        burin_print(embedder_introduction, p, model_name, p, p, p, p);
    else
        burin_print(program == BURIN_ENCODER_DECODER ? encoder_decoder_introduction : introduction,
                    p, model_name, p, p, p, p);
}

void burin_print_help(burin_kind program, const char *model_name, const char *group) {
    const option_group *one = *group ? find_group(program, group) : NULL;
    if (*group && !one) {
        burin_print("there is no group %s of options: ", group);
        print_group_names(program);
        return;
    }
    if (one) {
        print_group(program, one, true);
        return;
    }
    print_introduction(program, model_name);
    for (int i = 0; i < N_OPTION_GROUPS; i++) print_group(program, &option_groups[i], false);
    burin_print("--help-all lists all options, --help GROUP those of one:\n");
    print_group_names(program);
}

void burin_print_all_help(burin_kind program, const char *model_name) {
    print_introduction(program, model_name);
    for (int i = 0; i < N_OPTION_GROUPS; i++) print_group(program, &option_groups[i], true);
}

// -------------------------------------------------------------------------------------- completion
// The name as a shell's word: a name of other characters is refused, not quoted.
static const char *program_word(void) {
    const char *slash = strrchr(burin_program_name, '/');
    const char *name = slash ? slash + 1 : burin_program_name;
    for (const char *c = name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+", *c))
            burin_stop(BURIN_USER_MISTAKE,
                       "--completion: the program's name has other characters than letters, "
                       "digits, . _ + and -");
    return name;
}

static void print_bash_completion(burin_kind program, const char *name) {
    burin_print("# bash completion of %s\n_burin_complete() {\n    local words=\"", name);
    for (int i = 0; i < N_OPTIONS; i++)
        if (options[i].programs & program && options[i].name[1] == '-')
            burin_print("%s ", options[i].name);
    burin_print(
        "\"\n    case ${COMP_WORDS[COMP_CWORD]} in\n"
        "        -*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
        "\"${COMP_WORDS[COMP_CWORD]}\") ;;\n    esac\n}\n"
        "complete -o default -F _burin_complete %s ./%s\n",
        name, name);
}

static void print_fish_completion(burin_kind program, const char *name) {
    burin_print("# fish completion of %s\n", name);
    for (int i = 0; i < N_OPTIONS; i++) {
        const option *o = &options[i];
        if (!(o->programs & program) || o->name[1] != '-') continue;
        burin_print("complete -c %s -l %s%s -d '", name, o->name + 2, o->argument ? " -r" : "");
        for (const char *c = o->help; *c; c++) {
            if (*c == '\'' || *c == '\\') burin_print_bytes("\\", 1);
            burin_print_bytes(c, 1);
        }
        burin_print("'\n");
    }
}

void burin_print_completion(burin_kind program, const char *shell) {
    const char *name = program_word();
    if (!strcmp(shell, "bash"))
        print_bash_completion(program, name);
    else if (!strcmp(shell, "fish"))
        print_fish_completion(program, name);
    else
        burin_stop(BURIN_BAD_COMMAND_LINE, "--completion %s: expected bash or fish", shell);
}
