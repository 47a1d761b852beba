"""Are the bytes strict JSON, and is foreign JSON refused where reading would change it?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tracer import codec
from tracer.errors import Malformed


def nested(depth: int) -> Any:
    value: Any = []
    for number in range(depth - 1):
        value = {"k": value, "n": number} if number % 2 else [value]
    return value


@pytest.mark.parametrize("depth", [1, 100, 101, 254, 255, 256, 700, 4000])
def test_any_depth_is_written_so_that_every_parser_reads_it(depth: int) -> None:
    data = codec.encode(nested(depth))
    json.loads(data)
    assert (b'"$deep"' in data) == (depth > 254)
    assert codec.encode(codec.decode(data)) == data
    assert codec.encode(codec.decode(data, own=True)) == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1,"a":1}', "'a' occurs twice|\"a\" occurs twice"),
        (b'{"a":1,"\\u0061":2}', "occurs twice"),
        (b'[{"x":{"b":1,"c":[],"b":2}}]', "occurs twice"),
        (b"18446744073709551616", "64 bits"),
        (b"[-9223372036854775809 ]", "64 bits"),
        (b"[1e400]", "infinity"),
        (b"NaN", "JSON"),
        (b'"\\ud83e"', "surrogate"),
        (b"\xff", "JSON|UTF-8|utf-8"),
        (b"", "empty"),
        (b"[1,]", "JSON|comma"),
        (b"[" * 2000 + b"]" * 2000, "depth"),
        (b'{"$deep":[{"a":{"$ref":0}}]}', "refers"),
        (b'{"$deep":[{"a":{"$ref":1},"b":{"$ref":1}},[]]}', "refers"),
        (b'{"$deep":[[],[]]}', "never used"),
        (b'{"$deep":[5]}', "parts"),
        (b'{"$deep":{}}', "parts"),
    ],
)
def test_bytes_that_mean_something_else_to_another_reader_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        codec.decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b' { "a" : [ 1 , 2.50 ] , "b" : { "a" : 1 } } ',
        b'{"\\u0061":"\\"a\\":1,"}',
        b'[{"a":1},{"a":1}]',
        b'"a:"',
    ],
)
def test_strict_json_of_another_writer_is_read(data: bytes) -> None:
    assert codec.decode(data) == json.loads(data)


def test_many_keys_are_looked_at_in_linear_time() -> None:
    pairs = ", ".join(f'"k{number}": {number}' for number in range(20_000))
    assert len(codec.decode(f"{{{pairs}}}".encode())) == 20_000  # type: ignore[arg-type]
