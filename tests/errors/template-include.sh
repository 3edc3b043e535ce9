mkdir m && for f in config.json model.safetensors tokenizer.json tokenizer_config.json; do ln -s "$TOP/examples/austen/$f" m/$f; done
printf '{{ 1 }}\n{%% include "x" %%}' > m/chat_template.jinja
"$BURIN" inspect m --stop-after=infer > /dev/null; status=$?; rm -r m; exit $status
