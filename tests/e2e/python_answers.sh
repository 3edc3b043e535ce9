#!/bin/sh
# The package beside NAME.so answers, keeps sessions and reads texts as the program does: the same texts, the same session files,
# the same scores; forms of answers; mistakes raise; with numpy, if there is one, and without.
. tests/lib.sh
unsanitized "python_answers"
python=${PYTHON:-python3}
command -v "$python" > /dev/null || { skip "python_answers" "$python is missing" && exit 0; }
mkdir "$WORK/model" "$WORK/made"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"; done
printf '%s' '{%- for m in messages %}{{- bos_token + m.content + eos_token }}{%- endfor %}{{ bos_token }}{{ word or "and" }}' > "$WORK/model/chat_template.jinja"
tar xJf tests/e2e/heads.tar.xz -C "$WORK"
for pair in story:model mood:mood cross:cross names:names; do
    check "python_answers: builds ${pair%%:*}" "$BURIN" build "$WORK/${pair#*:}" --mcpu=native -o "$WORK/made/${pair%%:*}.so"
    check "python_answers: and its program" "$BURIN" build "$WORK/${pair#*:}" --mcpu=native -o "$WORK/made/run-${pair%%:*}"
done
cat > "$WORK/made/use.py" << 'END'
import inspect, os, subprocess, sys
if sys.argv[1] == "plain":
    sys.modules["numpy"] = None
import story, mood, cross, names

def program(name, *arguments, lines=""):
    return subprocess.run(["./run-" + name, *arguments], input=lines, capture_output=True, text=True).stdout

def same(what, mine, theirs):
    print(what, "ok" if mine == theirs else "%.200r, but the program says %.200r" % (mine, theirs))

def raises(what, kind, words):
    try:
        what()
        print("no error:", words)
    except kind as e:
        print(words if words in str(e) else "expected %r, got %r" % (words, str(e)))

def join(pieces):
    return "".join(pieces) + "\n"

model = story.Model(slots=2)
question = ("Who was it?", "-n", "12", "--seed", "3")
same("ask", join(model.ask("Who was it?", 12, seed=3)), program("story", *question))
same("ask, the shared model", join(story.ask("Who was it?", 12, seed=3)), program("story", *question))
same("ask, with a system", join(model.ask("Who?", 9, system="Be brief", seed=4)),
     program("story", "Who?", "-n", "9", "--seed", "4", "--system", "Be brief"))
grammar, schema = 'root ::= [a-z ]+ "."', '{"type": "object", "properties": {"a": {"enum": [1, "two"]}}, "required": ["a"]}'
same("ask, by a grammar", join(model.ask("Who was it?", 12, seed=3, grammar=grammar)), program("story", *question, "--grammar", grammar))
text = ("It was", "--raw", "-n", "40", "--seed", "5")
for setting, value, option in (("grammar", grammar, "--grammar"), ("json_schema", schema, "--json-schema")):
    same("generate, " + setting, join(model.generate("It was", 40, seed=5, **{setting: value})), program("story", *text, option, value))
same("generate, json_object", join(model.generate("It was", 40, seed=5, json_object=True)), program("story", *text, "--json-object"))
prompts = ["It was", "She", "", "The"]
same("generate_batch, by a grammar", model.generate_batch(prompts, 9, seed=2, grammar=grammar),
     ["".join(model.generate(p, 9, seed=2, grammar=grammar)) for p in prompts])
same("template", story.template([{"role": "user", "content": "Hi"}], word="or"), "<s>Hi</s><s>or")

mine = join(model.generate("It was", 10, seed=3, session="s1")), join(model.generate("", 10, session="s1"))
theirs = program("story", "It was", "--raw", "-n", "10", "--seed", "3", "--session", "s2"), program("story", "--raw", "-n", "10", "--session", "s2")
same("generate, a session", mine, theirs)
same("its file", open("s1", "rb").read(), open("s2", "rb").read())
same("each goes on with the other's", join(model.generate("", 10, session="s2")), program("story", "--raw", "-n", "10", "--session", "s1"))
chat = model.chat(system="Be brief", slot=1, seed=5)
mine = "".join(join(chat.ask(q, 12)) for q in ("One?", "Two?", "Drei, vier?"))
talk = ("--chat", "-n", "12")
same("chat", mine, program("story", *talk, "--system", "Be brief", "--seed", "5", "--session", "c2", lines="One?\nTwo?\nDrei, vier?\n"))
chat.save("c1")
same("the file of a chat", open("c1", "rb").read(), open("c2", "rb").read())
for answer in chat.ask("left?", 12):
    break
same("an answer that is left is a message", [m["role"] for m in chat.messages[-2:]], ["user", "assistant"])
other = story.Model().chat()
other.load("c2")
same("a chat goes on", join(other.ask("Five?", 12)), program("story", *talk, "--session", "c1", lines="Five?\n"))
try:
    list(model.generate("x", 1, session="/proc/x"))
except OSError as e:
    print(type(e).__name__)
raises(lambda: story.Form(grammar="root = x"), ValueError, "grammar: line 1, column 6: expected ::=")
raises(lambda: story.Form(), ValueError, "a form is one of grammar, json_schema and json_object, here are 0")
raises(lambda: story.Form(json_schema={"type": "foo"}), ValueError, "type must be object")
raises(lambda: story.template([{"role": 1}]), ValueError, "content")
raises(lambda: chat.load("use.py"), ValueError, "use.py: not a session of burin's")
raises(lambda: chat.ask("x", tmp=1), TypeError, "ask has no setting tmp")
raises(lambda: model.chat(temprature=1), TypeError, "did you mean temperature?")
raises(lambda: model.generate("x", grammr="x"), TypeError, "did you mean grammar?")
open("damaged", "wb").write(open("c1", "rb").read()[:-1] + b"x")
raises(lambda: chat.load("damaged"), ValueError, "damaged: damaged")

texts = ["a film", "a very good film", "x " * 200]
labels = ["\t".join("%s\t%.6f" % pair for pair in labels) for labels in mood.classify(texts)]
same("labels", labels, [program("mood", t, "--top-k", "9").rstrip("\n") for t in texts])
same("labels of one text", mood.classify("a film", 1)[0][0], program("mood", "a film").split("\t")[0])
long = "the cat sat on " * 50
pairs = [("where does anna live?", "Anna lives in Paris."), ("a [SEP] b", "c"), (long, "a cat"), ("a", long), (long, long)]
same("scores of pairs", ["%.6f\n" % s for s in cross.Texts().score(pairs)], [program("cross", *pair) for pair in pairs])
lines = ["the cat", "Anna lives in Paris.", "a very good film"]
same("rank", ["%.6f\t%s" % (s, t) for s, _, t in cross.rank("where does anna live?", lines)],
     program("cross", "--rank", "where does anna live?", "-f", "-", lines="\n".join(lines)).splitlines())
raises(lambda: mood.embed("x"), ValueError, "this model gives no embeddings")
raises(lambda: names.classify("x"), ValueError, "this model gives no labels of texts")
for package in story, mood:
    for name, thing in inspect.getmembers(package, lambda t: inspect.isfunction(t) or inspect.isclass(t)):
        if name.startswith("_") or getattr(thing, "__module__", "") != package.__name__:
            continue
        for f in [thing] if inspect.isfunction(thing) else [m for k, m in vars(thing).items() if inspect.isfunction(m) and k[0] != "_"]:
            if not f.__doc__ or "return" not in f.__annotations__:
                print(f.__qualname__, "has no help or no types")
END
cat > "$WORK/expected" << 'END'
ask ok
ask, the shared model ok
ask, with a system ok
ask, by a grammar ok
generate, grammar ok
generate, json_schema ok
generate, json_object ok
generate_batch, by a grammar ok
template ok
generate, a session ok
its file ok
each goes on with the other's ok
chat ok
the file of a chat ok
an answer that is left is a message ok
a chat goes on ok
FileNotFoundError
grammar: line 1, column 6: expected ::=
a form is one of grammar, json_schema and json_object, here are 0
type must be object
content
use.py: not a session of burin's
ask has no setting tmp
did you mean temperature?
did you mean grammar?
damaged: damaged
labels ok
labels of one text ok
scores of pairs ok
rank ok
this model gives no embeddings
this model gives no labels of texts
END
for how in plain numpy; do
    rm -f "$WORK"/made/[sc][12]
    (cd "$WORK/made" && "$python" use.py $how) > "$WORK/got" 2>&1
    same "python_answers: as the program, $how" "$WORK/expected" "$WORK/got"
done
