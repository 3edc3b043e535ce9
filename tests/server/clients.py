"""Asks a server by the SDKs that applications use: python3 clients.py PORT. Prints a line a test; exits 77 where an SDK is missing."""
import json
import sys

try:
    import anthropic
    import openai
    import pydantic
except ImportError as error:
    print(error)
    sys.exit(77)

base = f"http://127.0.0.1:{sys.argv[1]}"
client = openai.OpenAI(base_url=base + "/v1", api_key="none", max_retries=0)
claude = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0)
hello = [{"role": "user", "content": "It was"}]
light = {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}
failed = 0


def check(name, good):
    global failed
    failed += not good
    print(("ok - " if good else "not ok - ") + name)


def chat(**more):
    return client.chat.completions.create(model="x", messages=hello, seed=1, **more)


check("models", client.models.list().data[0].owned_by == "burin")
answer = chat(max_tokens=12)
whole = answer.choices[0].message.content
check("chat", len(whole) > 3 and answer.usage.completion_tokens == 12 and answer.choices[0].finish_reason == "length")
chunks = list(chat(max_tokens=12, stream=True, stream_options={"include_usage": True}))
check("stream", "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole)
check("stream usage", chunks[-1].usage.total_tokens == answer.usage.total_tokens)
check("logprobs", len(chat(max_tokens=3, logprobs=True, top_logprobs=2).choices[0].logprobs.content[0].top_logprobs) == 2)
tools = [{"type": "function", "function": light}]
call = chat(max_tokens=400, tools=tools, tool_choice="required").choices[0]
check("tools", call.finish_reason == "tool_calls" and isinstance(json.loads(call.message.tool_calls[0].function.arguments)["on"], bool))
arguments = "".join(
    c.choices[0].delta.tool_calls[0].function.arguments
    for c in chat(max_tokens=400, tools=tools, tool_choice="required", stream=True)
    if c.choices and c.choices[0].delta.tool_calls
)
check("streamed tools", arguments == call.message.tool_calls[0].function.arguments)
back = hello + [call.message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.message.tool_calls[0].id, "content": "done"}]
check("result of a tool", client.chat.completions.create(model="x", messages=back, max_tokens=2).choices[0].finish_reason == "length")


class Person(pydantic.BaseModel):
    name: str
    age: int


# A small model may fill the context with white space before the document ends.
seeds = range(1, 9)
for seed in seeds:
    try:
        parsed = client.chat.completions.parse(model="x", messages=hello, seed=seed, temperature=0.3, response_format=Person)
        check("structured output", isinstance(parsed.choices[0].message.parsed, Person))
        break
    except openai.LengthFinishReasonError:
        if seed == seeds[-1]:
            check("structured output", False)
check("completions", client.completions.create(model="x", prompt="It was", max_tokens=4, temperature=0).choices[0].text == " not to be supposed")
try:
    client.chat.completions.create(model="x", messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
    check("an error", False)
except openai.BadRequestError as error:
    check("an error", error.param == "messages[0].content")
response = client.responses.create(model="x", input="It was", max_output_tokens=12, extra_body={"seed": 1})
check("responses", response.output_text == whole and response.status == "incomplete")
events = list(client.responses.create(model="x", input="It was", max_output_tokens=12, stream=True, extra_body={"seed": 1}))
check("streamed responses", "".join(e.delta for e in events if e.type == "response.output_text.delta") == whole)
check("their end", events[-1].response.output_text == whole and [e.sequence_number for e in events] == list(range(len(events))))
response = client.responses.create(model="x", input="It was", max_output_tokens=400, tools=[{"type": "function", **light, "strict": False}], tool_choice="required", extra_body={"seed": 1})
check("responses with tools", response.output[0].type == "function_call" and json.loads(response.output[0].arguments) == json.loads(arguments))
back = [{"role": "user", "content": "It was"}, response.output[0].model_dump(), {"type": "function_call_output", "call_id": response.output[0].call_id, "output": "done"}]
check("responses: a result", client.responses.create(model="x", input=back, max_output_tokens=2).status == "incomplete")
with client.responses.stream(model="x", input="It was", max_output_tokens=400, tools=[{"type": "function", **light, "strict": False}], tool_choice="required", extra_body={"seed": 1}) as stream:
    check("responses: streamed tools", json.loads(stream.get_final_response().output[0].arguments) == json.loads(arguments))

message = claude.messages.create(model="x", max_tokens=12, messages=hello, system="Be brief.", extra_body={"seed": 1})
check("messages", message.stop_reason == "max_tokens" and len(message.content[0].text) > 2)
with claude.messages.stream(model="x", max_tokens=12, messages=hello, system="Be brief.", extra_body={"seed": 1}) as stream:
    check("streamed messages", "".join(stream.text_stream) == message.content[0].text)
    check("their usage", stream.get_final_message().usage.output_tokens == 12)
check("count_tokens", claude.messages.count_tokens(model="x", messages=hello, system="Be brief.").input_tokens == message.usage.input_tokens + message.usage.cache_read_input_tokens)
tool = {"name": "light", "input_schema": light["parameters"]}
message = claude.messages.create(model="x", max_tokens=400, messages=hello, tools=[tool], tool_choice={"type": "any"}, extra_body={"seed": 1})
used = [b for b in message.content if b.type == "tool_use"]
check("messages with tools", message.stop_reason == "tool_use" and isinstance(used[0].input["on"], bool))
with claude.messages.stream(model="x", max_tokens=400, messages=hello, tools=[tool], tool_choice={"type": "tool", "name": "light"}, extra_body={"seed": 1}) as stream:
    check("messages: streamed tools", [b.input for b in stream.get_final_message().content if b.type == "tool_use"][0] == used[0].input)
back = hello + [{"role": "assistant", "content": [b.model_dump() for b in message.content]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": used[0].id, "content": "done"}]}]
check("messages: a result", claude.messages.create(model="x", max_tokens=2, messages=back, tools=[tool]).stop_reason in ("max_tokens", "end_turn", "tool_use"))
message = claude.messages.create(model="x", max_tokens=60, messages=hello, stop_sequences=["e"], extra_body={"seed": 1})
check("messages: a stop", message.stop_reason == "stop_sequence" and message.stop_sequence == "e")
try:
    claude.messages.create(model="x", max_tokens=1, messages=[{"role": "user", "content": [{"type": "image", "source": {}}]}])
    check("messages: an error", False)
except anthropic.BadRequestError as error:
    check("messages: an error", error.body["error"]["type"] == "invalid_request_error")
sys.exit(failed > 0)
