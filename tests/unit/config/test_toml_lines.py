from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from whilly.config.toml_lines import find_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = '''\
top = 1
# comment [not.a.table]
"quoted key" = "a = 1"

[one]  # comment
list = [
    "x]",  # ]
    { inner = 1 },
]
text = """
[two]
key = 1
"""
literal = \'\'\'
]\'\'\'
dotted.deep = 1
[one.below]
a = {b = 1, c = {d = 2}}
[[many]]
x = 1
[[many]]
y = 2
'''


def paths(value: object, within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield (*within, key)
        for each in inner if isinstance(inner, list) else [inner]:
            yield from paths(each, (*within, key))


def test_every_key_is_found_where_it_begins() -> None:
    lines = find_lines(TEXT)
    assert set(lines) == set(paths(tomllib.loads(TEXT)))
    assert {".".join(path): line for path, line in lines.items()} == {
        "top": 1,
        "quoted key": 3,
        "one": 5,
        "one.list": 6,
        "one.list.inner": 6,
        "one.text": 10,
        "one.literal": 14,
        "one.dotted": 16,
        "one.dotted.deep": 16,
        "one.below": 17,
        "one.below.a": 18,
        "one.below.a.b": 18,
        "one.below.a.c": 18,
        "one.below.a.c.d": 18,
        "many": 19,
        "many.x": 20,
        "many.y": 22,
    }


def test_windows_line_ends_count_like_others() -> None:
    assert find_lines("[run]\r\nparallel = 1\r\n") == {("run",): 1, ("run", "parallel"): 2}


def test_a_very_long_list_is_one_statement() -> None:
    text = "a = [\n" + '"x",\n' * 20_000 + "]\nb = 1\n"
    assert find_lines(text) == {("a",): 1, ("b",): 20_003}


def test_a_text_that_seems_to_end_too_often_is_given_up_in_good_time() -> None:
    text = 'first = 1\na = """\n' + "]\n" * 20_000 + '"""\nb = 1\n'
    assert find_lines(text) == {("first",): 1}
