"""Does a row give back exactly the bytes that were packed, whatever they are?"""

import hashlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.errors import IntegrityError
from tracer.store.packing import RAW, TERSE, ZSTD, pack, unpack
from tracer.store.vocabulary import VOCABULARY

digests = st.binary(min_size=16, max_size=16).map(bytes.hex) | st.binary(min_size=32, max_size=32).map(
    bytes.hex
)
records = st.recursive(
    digests | st.text() | st.integers(-(2**53), 2**53) | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | digests, inner),
    max_leaves=30,
)


@given(records)
def test_a_record_comes_back_byte_for_byte(record):
    data = orjson.dumps(record)
    assert unpack(pack(data), "row") == data


@given(
    st.binary(max_size=400)
    | st.lists(st.sampled_from([b'"' + b"ab" * 32 + b'"', b"\xff", b"\xfe", b'"', b"ab"])).map(b"".join)
)
def test_bytes_that_are_no_text_come_back_too(data):
    assert unpack(pack(data), "row") == data


@given(st.binary(max_size=300))
def test_no_row_is_more_than_a_byte_longer_than_what_it_holds(data):
    assert len(pack(data)) <= len(data) + 1


def test_a_digest_in_a_record_costs_its_bytes_and_not_its_hex_digits():
    digest = hashlib.sha256(b"part").hexdigest()
    record = orjson.dumps({"$p": digest, "o": [[7, 0, [{"$#": digest[::-1], "n": 1012}]]], "d": 3})
    assert len(pack(record)) < 64 + 40


def test_the_form_says_how_a_row_was_packed():
    assert pack(b"short")[:1] == RAW
    assert pack(b"long " * 100)[:1] == TERSE
    assert pack(b"\xff" * 100)[:1] == ZSTD


def test_the_vocabulary_that_stores_were_written_with_is_never_changed():
    digest = "4687d581c79b3277700d06ecac2523816b71064d74e09449109280beec0689ed"
    assert hashlib.sha256(VOCABULARY).hexdigest() == digest


@pytest.mark.parametrize("row", [b"", b"\x09abc", TERSE + b"\xff" * 40, ZSTD + b"no frame"])
def test_a_damaged_row_is_an_integrity_error_that_names_it(row):
    with pytest.raises(IntegrityError, match="entry 7"):
        unpack(row, "entry 7")
