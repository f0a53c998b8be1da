"""Writes chat_templates.json: what Jinja2 makes of chat templates, set up as transformers sets it up, for fovea/data/text/jinja.

    pip install jinja2==3.1.6
    python3 tests/golden/make_chat_templates.py

"templates" (those of chat_templates/) were written for this test: each writes the marks that a family of models reads, in its own part of the language;
"cases" render them. "snippets" hold one piece of the language each, rendered with "variables". A case has the text that came out, or "error": what the
template raised, or "fails": the class of the exception with which Jinja2 itself refused.
"""

import datetime
import json
import pathlib

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
NOW = datetime.datetime(2024, 7, 6, 9, 5, 3)


class Raised(Exception):
    pass


class Generation(jinja2.ext.Extension):
    """{% generation %} … {% endgeneration %} tells a trainer which words are the model's; in the text they stand as they are."""

    tags = {"generation"}

    def parse(self, parser):
        opening = parser.stream.expect("name:generation")
        inner = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.Scope(inner, lineno=opening.lineno)


def raise_exception(message):
    raise Raised(message)


def as_json(value, **layout):
    """JSON with its letters as they are; the layout is indent, separators and sort_keys of json.dumps."""
    return json.dumps(value, **({"ensure_ascii": False} | layout))


environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
)
environment.filters["tojson"] = as_json
environment.globals["raise_exception"] = raise_exception
environment.globals["strftime_now"] = lambda format: NOW.strftime(format)


def render(source, variables):
    try:
        return {"text": environment.from_string(source).render(**variables)}
    except Raised as e:
        return {"error": str(e)}
    except Exception as e:
        return {"fails": type(e).__name__}


# The marks that each writes, and the language that it does it in:
#   marked_turns          <|im_start|>role … <|im_end|>: a macro with a caller, map, inline ifs without else
#   header_turns          <|start_header_id|>role<|end_header_id|>: set blocks, for … if, with, dicts, tojson with indent, strftime_now
#   instruction_brackets  [INST] <<SYS>> … [/INST]: slices, batch, unpacking, for … else, raise_exception
#   tool_brackets         [AVAILABLE_TOOLS], [TOOL_CALLS], [TOOL_RESULTS]: namespaces, joiner, dict(), tests by name
#   parts_of_turns        <start_of_turn>model: contents in parts by a macro that calls itself, loop.previtem, tests of types
#   one_line              <|user|> … <|end|>: one line without white space control, format and %
#   lines_outside_tags    <|user|> … </s>: trim_blocks and lstrip_blocks, +, raw, comments
#   wide_marks            <｜User｜>: break, continue, generation, rpartition, loop.nextitem, letters beyond ASCII
#   thoughts_and_calls    <think>, <tool_call>, <tool_response>: range, reverse, partition, set of several names, sorted and dense JSON
#   typed_signatures      <|START_OF_TURN_TOKEN|><|USER_TOKEN|>: macros that call each other, dictsort, indent, replace, revindex
#   roles_with_controls   <|start_of_role|>role {…}<|end_of_role|>: varargs, kwargs, * and **, filter blocks, set blocks with filters, truncate
#   channels              <|start|>role<|channel|>…<|message|>: arguments by name and place, splitlines, str.format, list.index
#   plain_labels          Labels of plain words: cycler, loop.cycle, sum, max, round, title, ljust
TEMPLATES = {p.stem: p.read_text(encoding="utf-8") for p in sorted((HERE / "chat_templates").glob("*.jinja"))}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather at a place — now.\nIn °C & \"words\".",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "Zürich, 東京, <any>"},
                    "days": {"type": "array", "items": {"type": "integer"}},
                    "units": {"type": ["string", "null"]},
                    "exact": {"type": "boolean", "default": False},
                },
                "required": ["place"],
            },
        },
    },
    {"type": "function", "function": {"name": "hidden", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}}},
    {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "object", "properties": {"x": {"type": "integer"}}}}, "required": ["a", "b"]}}},
]


def message(role, content, **more):
    return {"role": role, "content": content, **more}


CALL = {"id": "abc123def", "type": "function", "function": {"name": "get_weather", "arguments": {"place": "Zürich", "days": [1, 2], "exact": True, "scale": 1.5}}}
TURNS = {
    "one": [message("user", "Hello, how are you?")],
    "three": [message("user", "  Hi there \n"), message("assistant", "Hello! 👋\n"), message("user", "Tell me a joke\n\nabout 猫 & <b>dogs</b>.")],
    "system": [message("system", "You are a pirate. "), message("user", "Who are you?"), message("assistant", "Arr."), message("user", "Indeed?")],
    "thoughts": [message("user", "2+2?"), message("assistant", "<think>\nEasy.\n</think>\n\nFour"), message("user", "3+3?"), message("assistant", "<think>\nAlso easy.\n</think>\n\nSix")],
    "reasoned": [message("user", "2+2?"), message("assistant", "Four", reasoning_content="Easy.")],
    "calls": [message("user", "Weather in Zürich?"), message("assistant", None, tool_calls=[CALL]), message("tool", "22.5", name="get_weather", tool_call_id="abc123def"), message("assistant", "It is 22.5 °C."), message("user", "Thanks")],
    "two_calls": [message("system", "Short answers."), message("user", "Weather?"), message("assistant", "", tool_calls=[CALL, CALL]), message("tool", "22", tool_call_id="abc123def"), message("tool", "23", tool_call_id="abc123def")],
    "parts": [message("system", [{"type": "text", "text": "See well."}]), message("user", [{"type": "image"}, {"type": "text", "text": " What is this? "}])],
    "bad_order": [message("user", "a"), message("user", "b")],
    "bad_role": [message("user", "a"), message("narrator", "b")],
    "bad_content": [message("user", 5)],
    "none": [],
}
BASE = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}

# Small pieces of the language; what they see:
VARIABLES = {
    "messages": TURNS["system"],
    "numbers": [3, 1, 2, 3],
    "words": ["banana", "Apple", "cherry", "apple"],
    "text": "  Hello, Wörld! 👋 hello  ",
    "lines": "one\ntwo\n\nthree\n",
    "empty": "",
    "nothing": None,
    "yes": True,
    "no": False,
    "n": 7,
    "x": 2.5,
    "map": {"b": 1, "a": {"c": [1, "two", None, True, 2.5]}, "C": "é"},
    "people": [{"name": "Zoë", "age": 30, "tags": {"k": 2}}, {"name": "adam", "age": 25, "tags": {"k": 1}}, {"name": "Bob", "age": 30, "tags": {"k": 3}}],
    "quotes": "it's \"so\" \\ \t\x01\u200b",
}

SNIPPETS = """
{{ 1 + 2 * 3 - 4 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1e3 }} {{ 1e16 }} {{ 123456789012345680.0 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 100.0 }} {{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }}
{{ yes + 1 }} {{ -yes }} {{ +n }} {{ -n }} {{ -x|abs }} {{ -5|abs }} {{ (-5)|abs }}
{{ 'a' + 'b' }} {{ 'ab' * 3 }} {{ 3 * 'ab' }} {{ 'a' * -1 }} {{ [1] + [2, 'b'] }} {{ (1,) + (2,) }} {{ [0] * 3 }} {{ 'a' 'b' "c" }}
{{ 1 ~ 'a' ~ none ~ true ~ 2.0 ~ undefined_thing ~ [1, 'x'] }}
{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 != 2 }} {{ 2 >= 2 }} {{ 2 <= 1 }} {{ 'a' == 1 }} {{ (1, 2) == [1, 2] }}
{{ 'ell' in text }} {{ 'z' not in text }} {{ 3 in numbers }} {{ 'b' in map }} {{ 1 in map }} {{ 1 in undefined_thing }} {{ not 3 in numbers }}
{{ yes and no }} {{ yes and 'x' }} {{ no or 'y' }} {{ empty or nothing or 0 }} {{ not yes }} {{ not empty and yes }} {{ no or no and yes }}
{{ 'a' if yes else 'b' }} {{ 'a' if no else 'b' }} {{ 'a' if no }} {{ 'a' if no else 'b' if no else 'c' }} {{ (1 if yes else 2) + 1 }}
{{ numbers[0] }} {{ numbers[-1] }} {{ numbers[9] }} {{ numbers[1:] }} {{ numbers[:-1] }} {{ numbers[::-1] }} {{ numbers[1:3] }} {{ numbers[::2] }} {{ numbers[-2:] }} {{ numbers[3:0:-1] }} {{ numbers[10:] }} {{ numbers[-10:2] }}
{{ text[2] }} {{ text[-3] }} {{ text[9:13] }} {{ text[::-1] }} {{ text[::3] }} {{ text[17:18] }} {{ text|length }} {{ 'é👋'[1] }} {{ 'abc'[5] }}|
{{ map.b }} {{ map['a'].c[1] }} {{ map.missing }} {{ map['missing'] }} {{ map.a['c'][-1] }} {{ numbers.0 }} {{ people.0.name }}|
{{ map.missing.deeper }}
{{ undefined_thing.x }}
{{ undefined_thing + 1 }}
{{ undefined_thing }}|{{ undefined_thing|length }}|{{ undefined_thing|list }}|{{ undefined_thing == other_thing }}|{{ undefined_thing is defined }}|{% for a in undefined_thing %}x{% endfor %}|
{{ nothing }} {{ yes }} {{ no }} {{ n }} {{ x }} {{ numbers }} {{ map }} {{ (1, 'a') }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }} {{ [none, true, 1.0, 'é', "it's", 'say "hi"'] }}
{{ [quotes] }} {{ quotes|tojson }} {{ quotes|tojson(ensure_ascii=true) }} {{ ['\\x7f\\xa0\\u2028é👋'] }} {{ '👋é\\x7f'|tojson(ensure_ascii=true) }}
{{ 'tab\\t|nl\\n|quote\\'|back\\\\|hex\\x41|u\\u00e9|U\\U0001F44B|oct\\101|odd\\q' }}
{{ map|tojson }} {{ map|tojson(indent=2) }} {{ map|tojson(separators=(',', ':')) }} {{ map|tojson(sort_keys=true) }} {{ []|tojson(indent=2) }} {{ {}|tojson(indent=2) }} {{ [1, [2]]|tojson(indent=1, separators=(';', '=')) }}
{{ 1.0|tojson }} {{ none|tojson }} {{ true|tojson }} {{ 'a</script>\\'"'|tojson }} {{ (1, 2)|tojson }} {{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }}
{{ undefined_thing|tojson }}
{{ '[' ~ text|trim ~ ']' }} {{ 'xxaxx'|trim('x') }} {{ text|upper }} {{ text|lower }} {{ 'hELLO wORLD'|capitalize }} {{ "hello wor-ld (foo) it's"|title }} {{ 'straße'|upper }}
{{ words|join }} {{ words|join(', ') }} {{ people|join('/', attribute='name') }} {{ numbers|join('-') }} {{ 'abc'|join('.') }}
{{ words|first }} {{ words|last }} {{ []|first }}|{{ 'abc'|first }} {{ 'abc'|last }} {{ words|length }} {{ map|count }}
{{ undefined_thing|default('d') }} {{ empty|default('d') }}| {{ empty|default('d', true) }} {{ none|d('x') }} {{ none|d('x', boolean=true) }} {{ undefined_thing|d }}|
{{ '42'|int }} {{ ' 42 '|int }} {{ '4.7'|int }} {{ 'x'|int }} {{ 'x'|int(-1) }} {{ 4.7|int }} {{ -4.7|int }} {{ 'ff'|int(base=16) }} {{ true|int }} {{ '1.5'|float }} {{ 'x'|float }} {{ 3|float }} {{ none|int(9) }} {{ 5|string + '!' }}
{{ 'abc'|list }} {{ map|list }} {{ map|items|list }} {{ undefined_thing|items|list }} {{ numbers|list }}
{{ map|dictsort }} {{ map|dictsort(true) }} {{ {'a': 2, 'b': 1}|dictsort(by='value') }} {{ {'a': 2, 'b': 1}|dictsort(reverse=true) }}
{{ people|map(attribute='name')|list }} {{ words|map('upper')|list }} {{ people|map(attribute='tags.k')|list }} {{ words|map('replace', 'a', 'o')|join(' ') }} {{ people|map(attribute='zip', default='none')|list }}
{{ numbers|select('odd')|list }} {{ numbers|reject('odd')|list }} {{ numbers|select('gt', 1)|list }} {{ [0, 1, '', 'a']|select|list }} {{ [0, 1, '']|reject|list }}
{{ people|selectattr('age', 'equalto', 30)|map(attribute='name')|join(',') }} {{ people|rejectattr('age', 'lt', 30)|list|length }} {{ people|selectattr('tags')|list|length }} {{ people|selectattr('name', 'in', ['Bob'])|list|length }} {{ people|selectattr('zip', 'defined')|list }}
{{ numbers|unique|list }} {{ words|unique|list }} {{ words|unique(true)|list }} {{ numbers|sort }} {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ words|sort(reverse=true) }} {{ people|sort(attribute='age')|map(attribute='name')|list }} {{ people|sort(attribute='age,name')|map(attribute='name')|list }}
{{ numbers|reverse|list }} {{ 'abc'|reverse }} {{ numbers|min }} {{ numbers|max }} {{ words|min }} {{ words|max }} {{ people|max(attribute='age') }} {{ []|min }}|{{ numbers|sum }} {{ people|sum(attribute='age') }} {{ [1.5, 2]|sum(start=10) }}
{{ 'banana'|replace('a', 'o') }} {{ 'banana'|replace('a', 'o', 2) }} {{ 'ab'|replace('', '-') }} {{ 12|replace(1, 3) }}
{{ lines|indent }}|{{ lines|indent(2, true) }}|{{ lines|indent(2, blank=true) }}|{{ lines|indent('> ') }}|{{ ''|indent }}|
{{ '<a href="x">\\'&'|e }} {{ '<b>'|safe }} {{ '<b>'|escape }}
{{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 42|round }} {{ 2.1|round(method='ceil') }} {{ 2.9|round(0, 'floor') }} {{ 2.123|round(1, 'ceil') }} {{ 1234.5|round(-2) }} {{ (-2.5)|round }}
{{ numbers|batch(3)|list }} {{ numbers|batch(3, 0)|list }} {{ [1,2,3,4,5,6,7]|slice(3)|list }} {{ [1,2,3,4,5,6,7]|slice(3, 'x')|list }} {{ 'a b_c d-e é'|wordcount }} {{ 'ab'|center(7) }}| {{ '%s is %d (%.2f%%) %05d|%-4s|%4s|'|format('x', 5, 1.5, 42, 'l', 'r') }} {{ 'Hi %s' % 'you' }} {{ '%s-%s' % (1, none) }} {{ '%r' % 'a' }}
{{ 'hello big world'|truncate(9) }} {{ 'hello big world'|truncate(9, true) }} {{ 'hello'|truncate(4) }} {{ 'hello big world'|truncate(9, leeway=0, end='') }}
{{ x is defined }} {{ x is undefined }} {{ nothing is none }} {{ x is not none }} {{ text is string }} {{ n is number }} {{ yes is number }} {{ n is integer }} {{ yes is integer }} {{ x is float }} {{ yes is boolean }} {{ map is mapping }} {{ text is iterable }} {{ n is iterable }} {{ numbers is sequence }} {{ map is sequence }} {{ text is sequence }} {{ n is sequence }}
{{ yes is sameas true }} {{ 1 is sameas 1.0 }} {{ nothing is sameas none }} {{ n is eq 7 }} {{ n is equalto(7) }} {{ n is ne 7 }} {{ n is lt 8 }} {{ n is gt 8 }} {{ n is le 7 }} {{ n is ge 7 }} {{ n is in [7] }} {{ n is odd }} {{ n is even }} {{ 9 is divisibleby 3 }} {{ yes is true }} {{ 1 is true }} {{ no is false }} {{ range is callable }} {{ n is callable }} {{ 'AB' is upper }} {{ 'ab' is lower }} {{ 'upper' is filter }} {{ map.items is defined }}
{{ not x is defined }} {{ x is not defined or yes }} {{ (x is defined) and n is odd }} {{ 'a' if x is defined else 'b' }} {{ x is defined and 'q' }}
{{ range(5)|list }} {{ range(2, 5)|list }} {{ range(5, 0, -2)|list }} {{ range(0)|list }} {% for i in range(3) %}{{ i }}{% endfor %}
{{ dict(a=1, b=2) }} {{ dict({'x': 1}, y=2) }} {{ dict([('k', 'v')]) }} {{ {'a': 1}['a'] }} {{ {'a': {'b': 2}}.a.b }} {{ {1: 'x'}[1] }}
{% set ns = namespace(a=1) %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% set b = i %}{% endfor %}{{ ns.a }} {{ b is defined }} {{ ns['a'] }} {{ ns.zzz is defined }}
{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set c = 1, %}{{ c }} {% set (d, e) = (3, 4) %}{{ d + e }} {% set f %}block {{ a }}{% endset %}{{ f|upper }} {% set g | upper | trim %} shout {% endset %}[{{ g }}]
{% if no %}a{% elif yes %}b{% else %}c{% endif %} {% if empty %}a{% endif %} {% if not numbers %}x{% else %}y{% endif %}
{% for i in numbers %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.depth }};{% endfor %}
{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %} {% for k in map %}{{ k }}{% endfor %} {% for c in 'héy' %}{{ c }}.{% endfor %} {% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for i in numbers if i > 1 %}{{ i }}{{ loop.last }}{% else %}none{% endfor %} {% for i in [] %}x{% else %}empty{% endfor %} {% for i in numbers if i > 9 %}x{% else %}filtered{% endfor %}
{% for i in numbers %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %} {% for i in [1, 1, 2] %}{% if loop.changed(i) %}{{ i }}{% endif %}{% endfor %}
{% for a in [1, 2] %}{% for b in [3, 4] %}{{ loop.index }}{{ loop.depth }}{{ a }}{{ b }} {% endfor %}{{ loop.index }};{% endfor %}
{% set v = 1 %}{% for i in [1, 2] %}{{ v }}{% set v = v + 1 %}{{ v }};{% endfor %}{{ v }} {% if yes %}{% set v = 9 %}{% endif %}{{ v }} {% with w = 5, z = v %}{{ w }}{{ z }}{% set v = 1 %}{% endwith %}{{ v }}{{ w is defined }}
{% macro m(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=4) }}{{ m() }}{{ m(b=1, a=2) }} {{ m.name }} {% macro v() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, k=3) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}
{% macro fact(k) %}{% if k > 1 %}{{ k * fact(k - 1)|int }}{% else %}1{% endif %}{% endmacro %}{{ fact(5) }} {% macro wrap(t) %}<{{ t }}>{{ caller(7) }}</{{ t }}>{% endmacro %}{% call(i) wrap('b') %}body {{ i }}{% endcall %} {% macro late() %}{{ later }}{% endmacro %}{% set later = 3 %}{{ late() }}
{% filter upper %}some {{ 'text' }}{% endfilter %} {% filter replace('a', 'b')|upper %}aaa{% endfilter %} {% raw %}{{ not rendered }} {% if %}{% endraw %} {# comment #}x {% generation %}gen {{ n }}{% endgeneration %} {% print 1 + 1 %}
{{ '  a b '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ ' a '.lstrip() }}|{{ ' a '.rstrip() }}|{{ 'a,b,,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'a,b,c'.rsplit(',', 1) }}|{{ ' a b c '.split(None, 1) }}|{{ ' a b c '.rsplit(None, 1) }}|{{ ''.split() }}|{{ ''.split(',') }}
{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ 'abc'.startswith('ab') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('bc') }} {{ 'abc'.startswith('b', 1) }} {{ 'héllo'.find('l') }} {{ 'héllo'.rfind('l') }} {{ 'abc'.find('z') }} {{ 'abc'.index('c') }} {{ 'banana'.count('an') }} {{ 'aaa'.count('') }}
{{ 'a-b'.replace('-', '+') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'aB'.upper() }} {{ 'aB'.lower() }} {{ "they're bill's".title() }} {{ 'hELLO'.capitalize() }} {{ ', '.join(words) }} {{ '7'.zfill(3) }} {{ '-7'.zfill(4) }} {{ 'a'.ljust(3) }}| {{ 'a'.rjust(3, '.') }} {{ 'a'.center(4, '*') }} {{ '{} {1} {k}'.format(1, 2, k=3) if false else '{} {k} {{x}}'.format(1, k=3) }} {{ '{0}{1}{0}'.format('a', 'b') }}
{{ 'abc'.isalpha() }} {{ '12'.isdigit() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ 'AB1'.isupper() }} {{ 'ab1'.islower() }} {{ ''.isalpha() }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }}
{{ map.keys()|list }} {{ map.values()|list }} {{ map.items() }} {{ map.keys() }} {{ map.get('b') }} {{ map.get('z') }} {{ map.get('z', 5) }} {{ numbers.index(2) }} {{ numbers.count(3) }} {{ (1, 2, 1).count(1) }} {{ map['get']('b') }}
{{ numbers.append(4) }}
{{ map.update({'z': 1}) }}
{{ strftime_now('%Y-%m-%d %H:%M:%S %A %a %B %b %d %-d %-m %j %I %p %y %% %e') }}
{{ raise_exception('Oh no: ' ~ n) }}
{{ words|nonsense }}
{{ n is nonsense }}
{{ nonsense(1) }}
{{ 1 / 0 }}
{{ 'a' + 1 }}
{{ 'a' < 1 }}
{{ n[0].x }}
{{ none.x }}|{{ none['x'] }}|
{{ none.x.y }}
{{ n() }}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }} {% set j = joiner('; ') %}{% for i in [1, 2, 3] %}{{ j() }}{{ i }}{% endfor %}
{{ [1, 2][1] }} {{ 'x'.upper().lower() }} {{ ('a' ~ 'b').upper() }} {{ (numbers|first) + 1 }} {{ numbers|first + 1 }} {{ -numbers[0] }} {{ not not yes }} {{ [1, 2,] }} {{ {'a': 1,} }} {{ 1 if 0 else 2 }} {{ m(*[1]) if m is defined else dict(**{'q': 1}) }}
{% if 'a' in 'abc' and not ('z' in 'abc') %}ok{% endif %} {% if messages[0].role == 'system' and messages[1:]|length > 2 %}long{% endif %} {{ messages|map(attribute='role')|unique|join('|') }} {{ messages[-1]['content'][:3] ~ '…' }} {{ (messages|selectattr('role', 'eq', 'user')|list)[0].content }}
{{ 1, 2 }} {{ (1) }} {{ "a" "b" }} {{ true and none }} {{ True }} {{ False }} {{ None }} {{ none is none }}
{{ 'ÀÉÎ'.lower() }} {{ 'ñandú'|capitalize }} {{ 'ǆ'.title() }} {{ '　a　'.strip() }}| {{ '\\u200ba'|trim|length }} {{ 'a\\x1cb'.split() }} {{ 'a\\u2028b\\x0bc'.splitlines() }}
{{
{% if %}
{% for x in %}
{% endif %}
{% if yes %}
{{ 'abc }}
{{ (1 }}
{% foo %}
{{ a b }}
{% set 1 = 2 %}
{{ 1 + }}
{# open
{% macro m( %}{% endmacro %}
{% include 'x' %}
"""

# White space around tags, in several lines each.
SPACED = [
    "a\n  {% if yes %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%- if yes %}\n  b\n  {%- endif %}\nc",
    "a {% if yes -%}\n  b\n{%- endif -%} c",
    "  {%+ if yes %}x{% endif +%}\n  y\n\n",
    "x {{- ' a ' -}} y {{ ' b ' }} z\n{{ n }}\n{{ n -}}\n w",
    "{# first #}\n{# second #}  \nend {#- third -#}  x",
    "  {# indented #}\n  text {# in line #}\n",
    "{% for i in [1, 2] %}\n  - {{ i }}\n{% endfor %}\nend",
    "{% for i in [1, 2] %}\n{{ i }}\n{%- endfor %}",
    "\r\n{% if yes %}\r\na\r\n{% endif %}\rb\n\n",
    "{% raw %}\n  {{ a }}\n{% endraw %}\nb",
    "  {%- raw -%}  x  {%- endraw -%}  y",
    "\t{% set a = 1 %}\t\n{{ a }}\t{% set b = 2 %}\n{{ b }}",
    "{{ 'a\nb' }}\n{{ '}}' }} {{ {'a': {'b': 1}} }}{{ '%}' }}{% set s = '{{ x }}' %}{{ s }}",
    "{{-1}} {{ -1 }} {{- 1 -}} {{ 1 -1 }}",
    "x\u3000{%- if yes %}\u00a0y{% endif %}",
]


def main():
    cases = []
    for name in TEMPLATES:
        for turns in TURNS:
            for more in ({}, {"tools": TOOLS}):
                cases.append((name, turns, {**BASE, **more}))
    for name in ("marked_turns", "one_line", "lines_outside_tags", "channels", "plain_labels"):
        cases.append((name, "thoughts", {**BASE, "add_generation_prompt": False}))
    for name in ("wide_marks", "thoughts_and_calls"):
        cases.append((name, "three", {**BASE, "thoughtful": False}))
    cases.append(("header_turns", "system", {**BASE, "tools": TOOLS, "offer_with_question": False, "today": "the first of May"}))
    papers = [{"text": "Short."}, {"title": "Without a text"}, {"text": "A longer text, of which only the beginning is shown."}]
    cases.append(("roles_with_controls", "three", {**BASE, "tools": TOOLS, "documents": papers, "controls": {"length": "short", "formality": 2}}))
    cases.append(("roles_with_controls", "one", {**BASE, "documents": papers[:1], "controls": {}}))
    snippets = [s for s in SNIPPETS.split("\n") if s] + SPACED
    out = {
        "templates": TEMPLATES,
        "turns": TURNS,
        "tools": TOOLS,
        "cases": [
            {"template": n, "turns": t, "variables": {k: v for k, v in more.items() if k != "tools"}, "tools": "tools" in more}
            | render(TEMPLATES[n], {"messages": TURNS[t], **more})
            for n, t, more in cases
        ],
        "variables": VARIABLES,
        "snippets": [{"source": s} | render(s, VARIABLES) for s in snippets],
    }
    path = HERE / "chat_templates.json"
    path.write_text(json.dumps(out, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


main()
