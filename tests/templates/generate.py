"""Writes cases.json: small templates over one conversation, rendered by transformers' environment of Jinja2.

usage: generate.py > cases.json     needs transformers, jinja2

A snippet that Jinja2 or Python refuses has "error"; where the template raised, "raised" is its text.
"""
import datetime
import json
import sys

import jinja2
from transformers.utils import chat_template_utils as chat

NOW = "2025-07-05 14:03:09"
INPUT = {
    "messages": [
        {"role": "system", "content": " Be <brief> & kind. "},
        {"role": "user", "content": "na\u00efve caf\u00e9 \u65e5\u672c\n  two\tlines", "n": 3, "x": 0.1, "none": None, "yes": True,
         "list": [3, 1, 2], "nested": {"b": [1, {"c": "d"}], "a": {}, "e": []}, "items": "shadowed"},
        {"role": "assistant", "content": [{"type": "text", "text": "A"}, {"type": "image"}, {"type": "text", "text": "b'\"\\"}]},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"p": {"type": "int"}}}}}],
    "add_generation_prompt": True,
    "kwargs": {"flag": False, "big": 1e22, "small": 1e-7, "third": 1 / 3, "whole": 2.0, "minus": -0.0, "count": 12345678901},
}

# One value a line: printed as {{ it }}.
VALUES = r"""
1 + 2 * 3 - 4
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 / 2, 2 ** 10, 2 ** -1
7.5 // 2, -7.5 % 2, 1.0, 1e3, 1e16, 1e15, 123456789012345678.0, 1_000
0x1f, 0b101, 0o17
big, small, third, whole, minus, count
'a' 'b' "c"
'a\nb\tc\\d\'e\"f\x41\u00e9\U0001F600\q\101'
'a' + 'b' ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'x'] ~ {'k': 1.0}
'ab' * 3, 2 * 'ab', [1] * 2, (1,) * 2
[1, 2] + [3], (1,) + (2,)
[1, 'a', none, true, 1.0, {'a': [], 'b': {}}, (1,), (1, 2), ()]
{'a': 1, 'b': {'c': [1, 2]}, 1: 'x', none: 2}
"it's", 'say "hi"', 'both \' and "'
['it\'s', 'say "hi"', 'both \' and "', 'tab\t nl\n é \u200b \x07 日本 😀']
messages[1]
messages[1].n, messages[1]['x'], messages[1].none, messages[1].yes
messages[1].missing, messages[1]['missing'], messages[99], messages[-1].role
messages[1].items is callable, messages[1]['items']
messages[0].content[1:4], messages[0].content[::-1], messages[0].content[-3:], messages[0].content[:-20], messages[0].content[100:]
messages[1].content[1], messages[1].content[-1], messages[1].content[2:8:2], messages[1].content[10:2:-2]
messages[1].list[1:], messages[1].list[::-1], messages[1].list[:-1], messages[1].list[::2], messages[1].list[-100:100]
true and 'x', false and 'x', '' or 'y', 0 or none, not '', not 1
1 if true else 2, 1 if false, (1 if false) is defined
1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, true == 1, '1' == 1, 1 != 2, [1] == [1], (1,) == [1], {} == {}
'a' < 'b', 'abc' < 'abd', [1, 2] < [1, 3], 1 <= 1, 2 >= 3
'a' in 'cat', 'x' not in 'cat', 1 in [1, 2], 'a' in {'a': 1}, 3 in (1, 2), '' in 'x'
missing is defined, missing is undefined, missing == missing2, missing, missing | default('d'), missing | default
none is none, 1 is number, true is number, 1.5 is float, 1 is integer, true is integer, true is boolean, 'a' is string
[] is iterable, 'a' is iterable, 1 is iterable, {} is mapping, [] is mapping, [] is sequence, {} is sequence, 1 is sequence, missing is iterable
3 is odd, 4 is even, 9 is divisibleby 3, 9 is divisibleby(2), 1 is eq 1, 1 is ne(2), 1 is lt 2, 2 is gt 1, 1 is in [1], 1 is sameas 1
true is true, 1 is true, false is false, 0 is false, 'a' is lower, 'A' is upper, 'aB' is lower, not missing is defined, '' is lower
range is callable, missing is callable, 'x' is not none, 'upper' is filter, 'odd' is test
'a,b,,c'.split(','), ' a  b '.split(), 'a,b,c'.split(',', 1), ' a b c '.split(none, 1), ''.split(), ''.split(',')
'a,b,c'.rsplit(',', 1), 'a\nb\r\nc'.splitlines(), 'a--b'.partition('--'), 'a-b-c'.rpartition('-'), 'x'.partition('-')
'  x '.strip(), '  x '.lstrip(), '  x '.rstrip(), 'xxaxx'.strip('x'), '\n\nx'.lstrip('\n'), 'abc'.strip('ca')
'abc'.startswith('a'), 'abc'.endswith('bc'), 'abc'.startswith(('x', 'a')), 'abc'.startswith('b', 1)
'abc'.find('c'), 'abc'.find('x'), 'cabc'.rfind('c'), 'éa'.find('a'), 'abab'.count('ab'), 'aaa'.count('aa'), 'abc'.count('')
'abc'.replace('b', 'x'), 'aaa'.replace('a', 'b', 2), 'abc'.replace('', '-'), 'abc'.index('b')
'hello wOrld it\'s'.title(), 'hello wOrld'.capitalize(), 'aé'.upper(), 'AÉ'.lower(), 'straße'.upper(), 'ЖЯ'.lower(), 'ω'.upper()
'hello wOrld it\'s (a-b)' | title, 'hELLO' | capitalize, 'aé' | upper, 'AÉ' | lower, 12 | upper
', '.join(['a', 'b']), ', '.join('abc'), '{} and {}'.format(1, 'x'), '{1} {0} {a}'.format(1, 2, a=3), '{{}}'.format()
'abc'.zfill(5), '-1'.zfill(4), 'a'.ljust(3) ~ '|', 'a'.rjust(3, '.'), 'prefix-x'.removeprefix('prefix-'), 'x.py'.removesuffix('.py')
'12'.isdigit(), 'a1'.isdigit(), 'ab'.isalpha(), 'a1'.isalnum(), ' '.isspace(), 'AB'.isupper(), 'ab'.islower(), ''.isdigit()
'%s is %d and %.2f %5s|%-5s|%05d %x %%' % ('a', 3, 1.234, 'x', 'y', 42, 255), '%s' % 'x', '%(a)s' % {'a': 1}, '%r' % ('x',)
'%s %s' | format('a', 1)
messages[1].nested | tojson, messages[1].nested | tojson(indent=2), [] | tojson(indent=2), {} | tojson(indent=2)
messages[1] | tojson, "é\u2028\x01\"\\/<>&'" | tojson, [1, 1.0, 1e-7, none, true] | tojson, 'x' | tojson
messages[1].nested | tojson(sort_keys=true), messages[1].nested | tojson(separators=(',', ':')), messages[1].nested | tojson(indent='\t'), 'é' | tojson(ensure_ascii=true)
{1: 2, none: 3, true: 4} | tojson, (1, 2) | tojson
' x ' | trim, 'xxaxx' | trim('x'), 5 | string, none | string, [1] | string, 'abc' | length, [1, 2] | length, {} | length, 'é' | count
[1, 2] | first, [1, 2] | last, 'ab' | first, [] | first, [3, 1, 2] | sort, [3, 1, 2] | sort(reverse=true), ['b', 'A', 'c'] | sort
['b', 'A'] | sort(case_sensitive=true), messages[:2] | map(attribute='role') | sort | join(' '), [3, 1] | min, [3, 1] | max, [] | max
[1, 2, 3] | sum, [{'a': 1}, {'a': 2}] | sum(attribute='a'), [1, 2] | sum(start=10), [1, 2, 1, 'a', 'A'] | unique | list
[1, 2] | join, [1, 2] | join('-'), 'abc' | join('-'), [{'a': 1}, {'a': 2}] | join(', ', attribute='a'), [none, true] | join
[1, 2, 3] | reverse | list, 'abc' | reverse, 'abc' | list, {'a': 1} | list, range(3) | list, range(1, 10, 3) | list, range(3, 0, -1) | list
['a', 'b'] | map('upper') | list, [' a '] | map('trim') | list, ['a-b'] | map('replace', '-', '+') | list
messages[:2] | map(attribute='content') | map('length') | list, [{'a': {'b': 1}}] | map(attribute='a.b') | list, [[1, 2]] | map(attribute=0) | list, [{}] | map(attribute='x', default='d') | list
[1, 2, 3, 4] | select('odd') | list, [1, 2, 3] | reject('odd') | list, [0, 1, '', 'a'] | select | list, [1, 2, 3] | select('gt', 1) | list
messages | selectattr('role', 'equalto', 'user') | list | length, messages | rejectattr('role', '==', 'user') | list | length, messages | selectattr('n') | list | length, messages | selectattr('n', 'defined') | list | length
none | select | list, none | map('upper') | list
{'b': 1, 'a': 2} | dictsort, {'b': 1, 'a': 2} | dictsort(by='value'), {'b': 1, 'A': 2} | dictsort(reverse=true), {'b': 1} | items | list, missing | items | list
{'b': 1, 'a': 2}.items() | list, {'b': 1}.keys() | list, {'b': 1}.values() | list, {'b': 1}.get('b'), {'b': 1}.get('x'), {'b': 1}.get('x', 5), {'b': none}.get('b', 5)
'3' | int, 'x' | int, 'x' | int(7), 3.7 | int, '3.7' | int, none | int, true | int, '0x1f' | int(base=16), '3.5' | float, 'x' | float, 'x' | float(1.5), ' 12 ' | int
3.14159 | round(2), 2.5 | round, 3.5 | round, 2.675 | round(2), 7 | round, 3.2 | round(0, 'ceil'), 3.7 | round(method='floor'), 1234 | round(-2)
-3 | abs, 3.5 | abs, '' | default('x'), '' | default('x', true), none | default('x'), false | default('x', boolean=true), missing | d('y')
'<a href="x">\'&' | escape, '<b>' | safe, ('<b>' | safe) + '<i>', '<i>' + ('<b>' | safe), ('<b>' | safe) ~ '<i>', ('<b>' | escape) | escape, '<' | e | upper
(('<b>' | safe) + '<i>') is escaped, ('<b>' | safe).replace('b', '<'), ('<b>' | safe) | replace('b', '<'), ('<' | safe) | trim, ['<' | safe, '>'] | join('&'), '<' | forceescape
'a\nb\n\nc' | indent, 'a\nb\n\nc' | indent(2, first=true), 'a\nb\n\nc' | indent(2, blank=true), 'a\nb' | indent('> '), 'a\n' | indent(1)
'hello wonderful world' | truncate(10), 'hello wonderful world' | truncate(10, true), 'hello' | truncate(3, true, '..', 0), 'hi' | truncate(3)
'ab' | center(6) ~ '|', 'one two  three' | wordcount, 'a b/c?d=é' | urlencode, 'aXbX' | replace('X', 'y'), 'aaa' | replace('a', 'b', 2), [1, 2, 3] | batch(2) | list, [1, 2, 3] | batch(2, 0) | list
[1, 2, 3, 4, 5] | slice(3) | list, [1, 2, 3, 4] | slice(3, 0) | list, [] | slice(2, 'x') | list, [1, 2, 3] | batch(2, none) | list
' a b  c '.rsplit(none, 1), ' a b '.rsplit(maxsplit=5), '  '.rsplit(none, 2), 'a  b c'.rsplit(none, 0), -0.3 | round(0, 'ceil'), 0 % -2.5, -0.0 % 3, -3 // third, 1 // 0.1, -7.5 // 2.5, 0.0 // -2
messages | map(attribute='role') | list | tojson, {'a': 1} | attr('items') is callable, 5 | attr('x')
strftime_now('%Y-%m-%d %H:%M:%S %d %B %b %A %j %-d %y'), strftime_now('%d %b %Y')
namespace(a=1, b='x').a, namespace({'a': 2}).a, namespace().x, dict(a=1, b=2), dict({'a': 1}, b=2), dict([('a', 1)])
[1, 2, 3][1], (1, 2)[0], {'a': 1}['a'], 'abc'[0], [[1, 2], [3]][0][1], {'a': {'b': 1}}.a.b, [1][5], 'abc'[9], [1].0, [[5]].0.0
[1, 2].index(2), [1, 1].count(1), 5 is defined, (1), (1,), ()
add_generation_prompt, tools[0].function.name, documents, documents is none, flag, flag is defined, undefinedflag is defined
-1 | abs, - 2 ** 2, 2 ** 3 ** 2, not true == false, -1 ~ 1, 'a' ~ 'b' in 'cab', 1 is number and 2 is number
'a' if 1 == 1 else 'b' if 2 == 1 else 'c', [1 if true, 2], ('a' if false else 'b') ~ 'c'
none | string | length, true + true, true ~ 1, +1, -true, 1.5 + 1, 1e308 * 10, -1e308 * 10
messages[2].content | selectattr('type', 'equalto', 'text') | map(attribute='text') | join(''), messages[2].content | map(attribute='text') | list
'\u00a0x\u2003' | trim, ' x\u200b' | trim, 'ﬀ' | length, '👩‍👩‍👧' | length, '👩‍👩‍👧'[0]
"{{ x }}", '{% y %}', "{# z #}"
[1,2,], {'a': 1,}, (1,2,), range(0) | list, range(5)[-1], range(3) | length
cycler('a', 'b').next(), joiner('x')()
'abc' | first | upper ~ 'abc'[1:], 'x' | string | safe | e
messages | groupby('role'), messages | map(attribute='role') | groupby('missing', default=1), [{'a': 'X'}, {'a': 'y'}, {'a': 'x'}] | groupby('a')
[{'a': 'X'}, {'a': 'y'}, {'a': 'x'}] | groupby('a', case_sensitive=true), [[1, 2], [1, 3]] | groupby(0), [] | groupby('a')
([{'a': {'b': 2}}, {'a': {'b': 1}}] | groupby('a.b'))[0].list, ([{'a': 2}] | groupby('a'))[0].grouper, (1, 2).grouper is defined
'{:>5}|{:<5}|{:^5}|{:*^7}|{:5}|{:é^4}|{:05}|{:>05}'.format('a', 'b', 'c', 'd', 'é', 'x', 'ab', 'y'), '{:.2}|{:5.1}|{:s}'.format('abc', 'xyz', 'q')
'{:5}|{:05d}|{:<5}|{:+}|{: }|{:-}|{:,}|{:_}|{:=+5d}|{:<05}'.format(5, 4, 3, 7, 7, 7, 1234567, -1234567, 3, 3), '{:x}|{:X}|{:o}|{:#x}|{:#06x}|{:>+6}'.format(255, 255, 8, 255, 255, -4)
'{:.2f}|{:8.2f}|{:<8.1f}|{:e}|{:%}|{:.1%}|{:g}|{:,.2f}|{:06.1f}|{:5}|{:05}|{:.0f}'.format(3.14159, 2.5, 2.5, 1.5, 0.25, 0.256, 0.1, 12345.678, -2.5, 1.5, 1.5, 2.5)
'{:.2f}|{:f}|{:5}|{:d}|{:}|{:8}|{:F}|{:,}'.format(2, true, true, true, none, big, minus, 1234.5), '{!r}|{!s}|{!r:>5}'.format('a', 'b', 'c')
'{0.role}|{0[role]:>6}|{m.n:>3}|{l[1]}|{1[0].role}'.format(messages[0], messages, m=messages[1], l=[1, 2]), ('<b>{:>5}</b>{}' | safe).format('<', '<i>' | safe)
messages is sameas messages, [1] is sameas [1], {} is sameas {}, messages[0] is sameas(messages[0]), 1 is sameas 1.0, true is sameas 1, none is sameas none, 'a' is sameas 'a'
messages.0.role, messages[0]['content'] | trim | length, messages|length > 2, messages | length - 1
"a" == 'a' and "b" != 'c' or missing.x.y
"""

# Values that are errors.
REFUSED = r"""
missing.x
missing['x']
missing()
missing + 1
'a' + 1
1 + 'a'
none + 'a'
[1] + 'a'
'a' < 1
none < 1
1 in 5
1 in 'abc'
none | length
5 | length
1 / 0
1 // 0
1 % 0
{}.x.y
none.x.y
'x' | nosuchfilter
'x' is nosuchtest
'x'.nosuch()
[1].append(2)
{'a': 1}.update({'b': 2})
[1].pop()
raise_exception('The words <of> "the" template: é')
raise_exception('a' ~ 1)
missing | tojson
range | tojson
[missing] | tojson
'abc' | join(1, 2, 3, 4)
'%d' % 'x'
'%s %s' % ('a',)
none | join
5 | list
none | sort
[1, 'a'] | sort
'abc'.split('')
'abc'.index('x')
{[1]: 2}
{'a': 1}[[1]].x
5 | items | list
missing | int
range(1000000) | length
'x' * 1.5
-'x'
messages[0].content.strip(1)
'{}'.format()
loop.x
caller()
1 | attr
messages | groupby('n')
messages | groupby
'{:>5}'.format(none)
'{:5}'.format([1])
'{:d}'.format('a')
'{:d}'.format(1.5)
'{:s}'.format(1)
'{:.2}'.format(1)
'{:+}'.format('a')
'{:=5}'.format('a')
'{:,}'.format('a')
'{:>5'.format('a')
'{:>5q}'.format('a')
'{!q}'.format('a')
'{0.}'.format('a')
"""

# Whole templates; a comment names each.
TEMPLATES = [
    "plain text, {not} a % tag }} %} #}\n",
    "a\n{% if true %}\nb\n{% endif %}\nc\n\n",
    "a\n   {% if true %}   \n  b  \n   {% endif %}   \nc",
    "a {%- if true -%} \n b \n {%- endif -%} c",
    "a {%+ if true +%}\n b\n  {%+ endif %}\nc",
    "  {{ 1 }}\n  {{- 2 }}\n  {{ 3 -}}  \n 4",
    "a {# comment {{ x }} {% y %} #} b {#- c -#} d\n{# e #}\nf\n   {# g #}\nh\n{#+ i +#}\nj{#-#}k",
    "{% raw %}{{ x }} {% if %}{# c #}{% endraw %}!\n{%- raw -%}  {{ y }}  {%- endraw -%}  z\n  {% raw %}\nw\n  {% endraw %}\nv",
    "{{ {'a': {'b': 1}}['a']['b'] }}{{ {} }}{{ {'x': {}} }}",
    "{% if 0 %}a{% elif '' %}b{% elif 1 %}c{% elif 1 %}d{% else %}e{% endif %}",
    "{% if none %}a{% else %}b{% endif %}{% if 1, 2 %}t{% endif %}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ m.role }};{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}{% for x in missing %}a{% else %}none{% endfor %}{% for x in [1] %}a{% else %}none{% endfor %}",
    "{% for a, b in [(1, 2), [3, 4]] %}{{ a }}-{{ b }};{% endfor %}{% for k, v in {'x': 1}.items() %}{{ k }}{{ v }}{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}",
    "{% for x in range(10) if x is odd %}{{ x }}{{ loop.index }}{{ loop.length }},{% endfor %}",
    "{% for x in [1,2,3,4,5] %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in 'héy' %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in [1,1,2] %}{{ loop.changed(x) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{{ loop.depth0 }}{% endif %}{% endfor %}",
    "{% for x in {'a': 1, 'b': 2} %}{{ x }}{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for x in [1,2] %}{% for y in [3,4] %}{{ x }}{{ y }}{{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1,2] %}{{ x }}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}",
    "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% set ns = namespace(x=0, found=false) %}{% for i in [1,2,3] %}{% set ns.x = ns.x + i %}{% set ns.found = true %}{% endfor %}{{ ns.x }}{{ ns.found }}{{ ns.y is defined }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}{% set (c, d) = [3, 4] %}{{ c }}{{ d }}",
    "{% set x %}a<{{ 1 }}>{% endset %}[{{ x }}]{% set y | upper | trim %} b {% endset %}[{{ y }}]{{ x is string }}",
    "{% macro f(a, b=2, c='x') %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(1, c='z') }}{{ f(b=5, a=4) }}{{ f() }}{{ f.name }}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, a=3) }}",
    "{% macro f(x) %}<{{ caller() }}|{{ x }}>{% endmacro %}{% call f(1) %}body{% endcall %}",
    "{% macro f(x) %}{% for i in x %}{{ caller(i, i * 2) }}{% endfor %}{% endmacro %}{% call(a, b) f([1, 2]) %}[{{ a }}{{ b }}]{% endcall %}",
    "{% set x = 5 %}{% macro f() %}{{ x }}{% set x = 6 %}{{ x }}{% endmacro %}{{ f() }}{{ x }}",
    "{% macro f() %}{{ later }}{% endmacro %}{% set later = 7 %}{{ f() }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{% set l = [f, f] %}{{ l[0](*[1]) }}{{ f(**{'a': 2}) }}{{ dict(f=f).f(3) }}",
    "{% macro f(a, b) %}{{ a }}{{ b }}{% endmacro %}{% for x in [1, 2] %}{{ f(x, loop.index) }}{% endfor %}",
    "{% macro g(x) -%} {{ x }} {%- endmacro %}{% macro f(x) -%} {{ g(g(x)) }} {%- endmacro %}[{{ f('a') }}]",
    "{% filter upper %}abc{{ 'd' }}{% endfilter %}{% filter replace('a', 'b') | title %}a{% endfilter %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set c = 3 %}{% endwith %}{{ a is defined }}{{ c is defined }}{% with %}x{% endwith %}",
    "{% generation %}{{ messages[0].role }}{% set z = 1 %}{% endgeneration %}{{ z is defined }}",
    "{% set c = cycler('a', 'b', 'c') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }}",
    "{% set j = joiner(', ') %}{% for x in [1, 2, 3] %}{{ j() }}{{ x }}{% endfor %}",
    "{% for m in messages %}{{ '<|' + m['role'] + '|>\\n' + (m['content'] if m['content'] is string else '') | trim + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
    "{%- for m in messages %}\n    {%- if m.content is string %}\n        {{- '[' + m.content + ']' }}\n    {%- else %}\n        {%- for p in m.content %}\n            {{- p.type }}\n        {%- endfor %}\n    {%- endif %}\n{%- endfor %}\n",
    "{{ messages }}{{ tools }}{{ kwargs }}{{ range(3) is iterable }}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] | trim %}{% else %}{% set loop_messages = messages %}{% endif %}{{ loop_messages | length }}{{ system_message }}",
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate: ' + m.role) }}{% endif %}{% endfor %}",
    "a\r\nb\rc\n{% if true %}\r\nd{% endif %}\r\n",
    "\n\n{% set x = 1 %}\n\n{{ x }}\n\n",
    "{{ 'a' }}\n{{ 'b' }}   \n  {{ 'c' }}{% set y = 1 %}\n  {% set z = 1 %}\n {{ y }}",
    "x{% for i in [1,2] -%}\n  {{ i }}\n{%- endfor %}y",
    "{% set f = 'x' %}{% if f is string and f | length == 1 %}ok{% endif %}{% if not f is none %}!{% endif %}",
    "{{- 1 -}} {{- '' -}} \n{{ '\n' }}|{{ ' ' }}",
    "{% macro a() %}{% macro b() %}in{% endmacro %}{{ b() }}{% endmacro %}{{ a() }}{{ b is defined }}",
    "{% for x in [1] %}{% set y = x %}{% endfor %}{{ y is defined }}{% for y in [2] %}{% endfor %}{{ y is defined }}{{ loop is defined }}",
    "{% for g, l in messages | groupby('role') %}{{ g }}:{{ l | length }};{% endfor %}{% for g in messages | groupby('role') %}{{ g.grouper }}{{ g.list[0].role }}{{ g.index is callable }}{% endfor %}",
    "{% macro f(a, b=1) %}{% endmacro %}{{ f.arguments }}{{ f.catch_kwargs }}{{ f.catch_varargs }}{{ f.caller }}{{ f.other is defined }}{% macro g() %}{{ caller() }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ g.arguments }}{{ g.catch_kwargs }}{{ g.catch_varargs }}{{ g.caller }}",
    "{% set x = 5 %}a {% block one %}\n[{{ x }}]{% set x = 6 %}{% endblock one %}\n{{ x }}{% if true %}{% set x = 2 %}{% block two -%} {{ x }} {%- endblock %}{% endif %}",
    "{% for i in [1, 2] %}{% block a scoped %}[{{ i }}{{ loop.index }}]{% set y = 1 %}{% endblock %}{{ y is defined }}{% endfor %}{% macro m() %}M{% endmacro %}{% block b %}{{ m() }}{% macro n() %}{% endmacro %}{% endblock %}{{ n is defined }}",
    "{% set messages = messages[:1] %}{{ messages | length }}{% set bos_token = 'b' %}{{ bos_token }}{{ eos_token }}",
    "{% set d = {'a': 1} %}{% for k in d %}{{ d[k] }}{% endfor %}{{ d.a }}{{ d['a'] }}{{ d.get('a') }}{{ 'a' in d }}{{ d.b is defined }}",
]

# What Jinja2 does not compile.
WRONG = ["{{", "{{ 1", "{% if %}", "{% if 1 %}", "{% endif %}", "{% for x %}{% endfor %}", "{{ 1 + }}", "{{ (1 }}", "{{ 1) }}", "{{ 'a }}", "{# x",
         "{% raw %}x", "{% set 1 = 2 %}", "{% macro %}{% endmacro %}", "{{ a b }}", "{% if 1 %}{% else %}{% else %}{% endif %}",
         "{% nosuchtag %}", "{{ {1} }}", "{{ a. }}", "{{ a | }}", "{{ a is }}", "{{ [1 }}", "{% break %}", "{% set x = %}", "{% call f %}{% endcall %}",
         "{{ f(a=1, 2) }}", "{{ 1 ? 2 }}", "{{ @ }}", "{% for a in b %}{% endif %}", "{{ a = 1 }}", "{% %}", "{{ }}", "{% macro f() %}{% break %}{% endmacro %}",
         "{% block a %}x", "{% block %}{% endblock %}", "{% block a %}{% endblock b %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% block a-b %}{% endblock %}",
         "{% for i in [1] %}{% block a scoped %}{% break %}{% endblock %}{% endfor %}", "{% endblock %}"]


class Stopped(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.strptime(NOW, "%Y-%m-%d %H:%M:%S")


def render(text):
    context = {k: INPUT.get(k) for k in ("messages", "tools", "documents", "add_generation_prompt")}
    context.update(bos_token="<s>", eos_token="</s>", **INPUT["kwargs"])
    try:
        return {"text": chat._compile_jinja_template(text).render(**context)}
    except jinja2.exceptions.TemplateError as e:
        return {"raised": str(e)} if type(e) is jinja2.exceptions.TemplateError else {"error": str(e)}
    except Exception as e:
        return {"error": str(e)}


def main():
    chat.datetime = Stopped
    templates = ["{{ [" + v + "] }}|{{ " + v + " }}" for v in VALUES.strip().split("\n")]
    refused = ["before{{ " + v + " }}" for v in REFUSED.strip().split("\n")]
    cases = [{"template": t, **render(t)} for t in templates + refused + TEMPLATES]
    for c in cases:
        if ("text" in c) == (c["template"] in refused) and c["template"] not in TEMPLATES:
            print(f"{c['template']}: {c}", file=sys.stderr)
    for t in WRONG:
        try:
            chat._compile_jinja_template(t)
            print(f"{t} compiles", file=sys.stderr)
        except (jinja2.exceptions.TemplateSyntaxError, SyntaxError) as e:
            cases.append({"template": t, "wrong": str(e)})
    print(json.dumps({"now": NOW, "input": INPUT, "bos": "<s>", "eos": "</s>", "cases": cases}, indent=1, ensure_ascii=True))


if __name__ == "__main__":
    main()
