"""Random expressions and blocks of Jinja, as transformers renders them: cases for build/tools/templates.

    python tests/templates/random_templates.py SEED COUNT > cases.json     needs transformers, jinja2
"""
import json
import random
import sys

import generate as g

STRINGS = ["'a'", "''", "' x '", "'Ab cD'", "'a,b,,c'", "'1.5'", "'42'", "'<b>&'", "'é日'", r"'l1\nl2\n\nl4'", "messages[0].content",
           "messages[1].content", "'<think>t</think>ans'", "bos_token", r"'\t\'\"\\'"]
NUMBERS = ["0", "1", "-3", "7", "2.5", "-0.0", "1e15", "third", "count", "true", "false", "10 ** 3", "0.1"]
# (Left out: a range printed as itself, groupby.)
LISTS = ["[3, 1, 2]", "[]", "['b', 'A', 'c']", "messages", "messages[2].content", "[1, 'x', none, 1.0, [2]]", "(1, 2)", "range(5) | list",
         "range(5, 0, -2) | list", "[true, 1, 1.0]", "['x', 'X', 'x']", "messages[1].list", "'a b c'.split()", "[[1, 'z'], [0, 'y']]"]
DICTS = ["{}", "{'b': 1, 'a': [2, {'z': none}]}", "messages[1].nested", "tools[0]", "tools[0].function", "messages[1]",
         "dict(x=1, y='é')", "{1: 'one', 'k': 1.5}"]
TOJSON = ["", "(indent=2)", "(ensure_ascii=true)", "(sort_keys=true)", "(indent=1, sort_keys=true)", "(separators=(',', ':'))"]
WORDS = ["role", "content", "type", "n", "missing", "a", "b"]


class Draw(random.Random):
    def any(self, depth):
        return self.choice([self.string, self.string, self.number, self.list, self.dict, self.boolean, lambda d: "none",
                            lambda d: "missing"])(depth)

    def small(self):
        return self.choice(["0", "1", "2", "-1", "-2", "3", "5", "none", "", "", "100", "-100"])

    def slice(self):
        step = self.choice(["", "", ":2", ":-1", ":-2", ":1"])
        return f"[{self.small().replace('none', '')}:{self.small().replace('none', '')}{step}]"

    def string(self, depth):
        if depth <= 0:
            return self.choice(STRINGS)
        s, o = self.string(depth - 1), self.choice(STRINGS)
        return self.choice([
            lambda: f"({s})[{self.choice('01')}]" if self.random() < 0.2 else f"({s}){self.slice()}",
            lambda: f"({s}).{self.choice(['strip', 'lstrip', 'rstrip', 'upper', 'lower', 'title', 'capitalize'])}()",
            lambda: f"({s}).{self.choice(['strip', 'lstrip', 'rstrip'])}({o})",
            lambda: f"({s}).replace({o}, {self.choice(STRINGS)}{self.choice(['', ', 1', ', -1'])})",
            lambda: f"({s}).{self.choice(['removeprefix', 'removesuffix'])}({o})",
            lambda: f"({s}).split({o})[{self.choice(['0', '-1', '1'])}]",
            lambda: f"({s} ~ {self.any(depth - 1)})", lambda: f"({s} + {o})", lambda: f"({s} * {self.choice('0123')})",
            lambda: f"({s} | {self.choice(['trim', 'upper', 'lower', 'title', 'capitalize', 'e', 'urlencode', 'string', 'safe'])})",
            lambda: f"({s} | indent({self.choice(['2', '4, true', 'first=true', 'width=3, blank=true'])}))",
            lambda: f"({s} | replace({o}, {self.choice(STRINGS)}))",
            lambda: f"(({s} ~ '') | truncate({self.choice(['5', '9, true', '6, false, ' + repr('..'), '3, true, ' + repr('')])}))",
            lambda: f"({s} | center(12))", lambda: f"({self.any(depth - 1)} | tojson{self.choice(TOJSON)})",
            lambda: f"({self.list(depth - 1)} | join({o}))", lambda: f"({self.any(depth - 1)} | string)",
            lambda: f"({o}).join({self.choice(['[]', repr(['p', 'q']), '(' + s + ').split()'])})",
            lambda: f"({s} if {self.boolean(depth - 1)} else {o})",
            lambda: f"('%s-%d-%.2f-%r' % ({o}, {self.choice('037')}, 2.5, {o}))",
            lambda: f"'{{}}:{{}}'.format({o}, {self.number(0)})", lambda: f"({s} | default({o}, {self.choice(['true', 'false'])}))",
            lambda: f"({s}).{self.choice(['ljust', 'rjust', 'zfill'])}({self.choice(['0', '4', '9'])})"])()

    def number(self, depth):
        if depth <= 0:
            return self.choice(NUMBERS)
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.choice([
            lambda: f"({a} {self.choice(['+', '-', '*', '/', '//', '%'])} {b})", lambda: f"(-({a}))",
            lambda: f"({self.string(depth - 1)} | length)", lambda: f"({self.list(depth - 1)} | length)",
            lambda: f"({self.list(depth - 1)} | {self.choice(['sum', 'first', 'last', 'max', 'min'])})",
            lambda: f"({self.any(depth - 1)} | {self.choice(['int', 'float', 'int(9)', 'float(0.5)'])})",
            lambda: f"({a} | {self.choice(['abs', 'round', 'round(1)', 'round(2, method)'.replace('method', repr('floor')), 'round(0, m)'.replace('m', repr('ceil'), 1)])})",
            lambda: f"({self.string(depth - 1)}).{self.choice(['find', 'rfind', 'count'])}({self.choice(STRINGS)})",
            lambda: f"({self.string(depth - 1)} | wordcount)"])()

    def list(self, depth):
        if depth <= 0:
            return self.choice(LISTS)
        a = self.list(depth - 1)
        return self.choice([
            lambda: f"({a} + {self.choice(LISTS[:3])})", lambda: f"({a}){self.slice()}",
            lambda: f"({a} | {self.choice(['sort', 'reverse', 'list', 'sort(reverse=true)', 'sort(case_sensitive=true)'])} | list)",
            lambda: f"({a} | map({self.choice([repr('string'), repr('upper'), repr('length'), 'attribute=' + repr(self.choice(WORDS)), 'attribute=' + repr(self.choice(WORDS)) + ', default=0', repr('tojson'), repr('int')])}) | list)",
            lambda: f"({a} | {self.choice(['select', 'reject'])}({self.choice(['', repr('string'), repr('number'), repr('odd'), repr('in') + ', [1, 2]', repr('gt') + ', 1', repr('defined')])}) | list)",
            lambda: f"({a} | {self.choice(['selectattr', 'rejectattr'])}({self.choice([repr('role'), repr('role') + ', ' + repr('equalto') + ', ' + repr('user'), repr('type') + ', ' + repr('==') + ', ' + repr('text'), repr('content') + ', ' + repr('string'), repr('missing') + ', ' + repr('defined')])}) | list)",
            lambda: f"({self.dict(depth - 1)} | {self.choice(['dictsort', 'dictsort(reverse=true)', 'dictsort(by=' + repr('value') + ')', 'items', 'list'])} | list)",
            lambda: f"({a} | batch({self.choice(['2', '2, 0', '3, ' + repr('-')])}) | list)",
            lambda: f"({a} | slice({self.choice(['2', '3, 0'])}) | list)",
            lambda: f"({self.string(depth - 1)}).{self.choice(['split()', 'splitlines()', 'split(' + repr(',') + ')', 'split(' + repr(' ') + ', 1)', 'rsplit(none, 1)', 'partition(' + repr(' ') + ')'])}",
            lambda: f"({self.dict(depth - 1)}).{self.choice(['keys', 'values', 'items'])}() | list",
            lambda: f"[{self.any(depth - 1)}, {self.any(depth - 1)}]", lambda: f"({self.string(depth - 1)} | list)"])()

    def dict(self, depth):
        if depth <= 0:
            return self.choice(DICTS)
        return self.choice([lambda: f"{{{self.choice(STRINGS)}: {self.any(depth - 1)}, 'k': {self.any(depth - 1)}}}",
                            lambda: f"dict({self.choice(DICTS)}, z={self.any(depth - 1)})",
                            lambda: f"({self.dict(depth - 1)}).get({self.choice(STRINGS[:3])}, {self.any(depth - 1)})",
                            lambda: self.choice(DICTS)])()

    def boolean(self, depth):
        if depth <= 0:
            return self.choice(["true", "false", "flag", "add_generation_prompt", "missing", "tools"])
        a, b = self.any(depth - 1), self.any(depth - 1)
        return self.choice([
            lambda: f"({a} {self.choice(['==', '!=', '==', '!=', '<', '>', '<=', '>='])} {b})",
            lambda: f"({a} {self.choice(['and', 'or'])} {b})", lambda: f"(not {a})",
            lambda: f"({a} {self.choice(['in', 'not in'])} {self.choice([self.string, self.list, self.dict])(depth - 1)})",
            lambda: f"({a} is {self.choice(['', 'not '])}{self.choice(['defined', 'none', 'string', 'number', 'mapping', 'iterable', 'sequence', 'true', 'false', 'boolean', 'integer', 'float', 'undefined', 'callable', 'odd', 'even', 'lower', 'upper', 'eq(1)', 'in [1]', 'divisibleby 3'])})",
            lambda: f"({self.string(depth - 1)}).{self.choice(['startswith', 'endswith'])}({self.choice(STRINGS)})",
            lambda: f"({self.string(depth - 1)}).{self.choice(['isdigit', 'isalpha', 'isalnum', 'isspace', 'isupper', 'islower'])}()"])()

    def statement(self, depth):
        dash, end = self.choice(["{%", "{%-"]), self.choice(["%}", "-%}"])
        inner = lambda: self.block(depth - 1)
        e = lambda: self.any(self.randint(0, 2))
        make = self.choice([
            lambda: f"{dash} if {self.boolean(1)} {end}{inner()}{{% elif {self.boolean(1)} %}}{inner()}{{%- else %}}{inner()}{dash} endif {end}",
            lambda: f"{dash} for x in {self.list(1)}{self.choice(['', ' if x', ' if loop is defined'][:2])} {end}{{{{ loop.index0 }}}}{{{{ x }}}}{{{{ loop.{self.choice(['last', 'first', 'revindex', 'length', 'previtem', 'nextitem', 'depth'])} }}}}{inner()}{{% else %}}none{dash} endfor {end}",
            lambda: f"{dash} for k, v in ({self.dict(0)}).items() {end}{{{{ k }}}}={{{{ v }}}}{self.choice(['', '{% if loop.index == 2 %}{% break %}{% endif %}', '{% if loop.first %}{% continue %}{% endif %}'])};{dash} endfor {end}",
            lambda: f"{dash} set v = {e()} {end}{{{{ v }}}}{inner()}",
            lambda: f"{{% set ns = namespace(a=0, t='') %}}{dash} for x in {self.list(1)} {end}{{% set ns.a = ns.a + loop.index %}}{{% set ns.t = ns.t ~ x %}}{dash} endfor {end}{{{{ ns.a }}}}{{{{ ns.t }}}}",
            lambda: f"{dash} macro m(a, b={e()}, c='z') {end}[{{{{ a }}}}{{{{ b }}}}{{{{ c }}}}{{{{ caller() if caller is defined else '' }}}}{inner()}]{dash} endmacro {end}{{{{ m({e()}) }}}}{{{{ m(1, c={e()}) }}}}{{% call m({e()}) %}}in{inner()}{{% endcall %}}",
            lambda: f"{{% set t %}}{inner()}{{% endset %}}{{{{ t | {self.choice(['trim', 'upper', 'length', 'indent(2)', 'replace(' + repr(' ') + ', ' + repr('_') + ')'])} }}}}",
            lambda: f"{dash} filter {self.choice(['upper', 'trim', 'indent(3)'])} {end}{inner()}{dash} endfilter {end}",
            lambda: f"{dash} generation {end}{inner()}{dash} endgeneration {end}",
            lambda: f"{dash} with a = {e()} {end}{{{{ a }}}}{inner()}{dash} endwith {end}",
            lambda: f"{{# note #}}\n  {{%+ if {self.boolean(1)} %}}  {inner()}\n{dash} endif {end}"])
        return make()

    def block(self, depth):
        text = self.choice(["\n", " t ", "x\n", "", "  \n"])
        if depth <= 0:
            return text + "{{ " + self.any(self.randint(0, 2)) + " }}"
        return text + self.choice([self.statement(depth), "{{ " + self.any(2) + " }}"]) + self.choice(["\n", " ", ""])


def main(seed, count):
    draw, cases = Draw(seed), []
    g.chat.datetime = g.Stopped
    while len(cases) < count:
        template = "{{ " + draw.any(3) + " }}" if draw.random() < 0.6 else draw.block(2)
        try:
            case = g.render(template)
        except (g.jinja2.exceptions.TemplateSyntaxError, SyntaxError):
            continue
        if " at 0x" not in case.get("text", "") and len(case.get("text", "")) < 20000:
            cases.append({"template": template, **case})
    print(json.dumps({"now": g.NOW, "input": g.INPUT, "bos": "<s>", "eos": "</s>", "cases": cases}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
