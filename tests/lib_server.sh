# Functions for tests of a server over the loopback: `. tests/lib_server.sh` after lib.sh.

# talking MODEL_FOLDER: austen with a chat template, which ends an answer of the assistant with </s>, whose calls are whole answers, as Llama 3's
talking() {
    mkdir -p "$1"
    for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do
        ln -sf "$PWD/examples/austen/$file" "$1/$file"
    done
    cat > "$1/chat_template.jinja" << 'END'
{%- if tools %}ipython {"name": {{ tools[0].function.name }}, "parameters": {}}{% endif %}
{%- for m in messages %}
    {{- bos_token + m.role + ' ' + (m.content or '') }}
    {%- for call in m.tool_calls or [] %}{"name": "{{ call.function.name }}", "parameters": {{ call.function.arguments | tojson }}}{% endfor %}
    {{- eos_token }}
{%- endfor %}
{%- if add_generation_prompt %}{{ bos_token }}assistant {% if enable_thinking %}<think>
{% endif %}{% endif %}
END
}

# serving PROGRAM OPTIONS...: starts it on a port of its own, in $port, as process $server; its
# output is in $WORK/served
serving() {
    _program=$1
    shift
    : > "$WORK/served"
    "$_program" --serve --port 0 "$@" > "$WORK/served" 2>&1 &
    server=$!
    _tries=0
    until port=$(sed -n 's/.*serving at http.*:\([0-9]*\)$/\1/p' "$WORK/served") && [ -n "$port" ]; do
        _tries=$((_tries + 1))
        [ $_tries -lt 200 ] || return 1
        sleep 0.05
    done
}

# stopped: ends the server; its exit status
stopped() { kill "$server" && wait "$server"; }

# asked AT_ONCE REQUESTS_FILE REPLIES_FILE [HEADER...]
asked() {
    _at_once=$1 _from=$2 _to=$3
    shift 3
    "$BUILD/tools/http_client" "$port" "$_at_once" "$@" < "$_from" > "$_to"
}

# reply NAME PATTERN METHOD PATH [BODY]: one request, whose reply (status, a space, the body) matches the pattern of grep -E
reply() {
    _name=$1 _pattern=$2
    shift 2
    printf '%s\n' "$*" | "$BUILD/tools/http_client" "$port" 1 > "$WORK/reply"
    if grep -qE -- "$_pattern" "$WORK/reply"; then ok "$_name"; else
        not_ok "$_name: $(head -c 600 "$WORK/reply"), expected $_pattern"
    fi
}
