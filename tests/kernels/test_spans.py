"""Where tokens stand, against a walk over the characters of the text; the hashes are those of the oracle's tokens."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.spans import token_places, token_spans
from nearsame.kernels.tokens import CHARS, KEEP_CASE, PUNCTUATION, SPACE
from tests.oracle import mixing as twin
from tests.oracle.corpora import corpora, texts
from tests.oracle.tokens import is_mark, is_space, is_unseen, is_word, tokens

TEXTS = texts() | corpora().map(lambda rows: next(filter(None, rows), ""))
FLAGS = st.integers(0, 15)
CANARY = 0x5A5A5A5A5A5A5A5A
NONE = frozen(np.zeros(0, np.uint64))


def _tokens(text, flags):
    """The tokens of a text, by the oracle."""
    return tokens(
        text,
        unit="chars" if flags & CHARS else "words",
        keep_case=bool(flags & KEEP_CASE),
        keep_punctuation=bool(flags & PUNCTUATION),
        whitespace=bool(flags & SPACE),
    )


def _kept(text, flags):
    """(characters, first byte, the byte behind the last) of each character of a token, with the marks behind it."""
    found, at = [], 0
    for character in text:
        size = len(character.encode())
        if is_mark(character) and found:
            found[-1] = [found[-1][0] + character, found[-1][1], at + size]
        elif not is_mark(character) and not is_unseen(character):
            found.append([character, at, at + size])
        at += size
    punctuation = bool(flags & PUNCTUATION)
    return [each for each in found if is_word(each[0][0]) or (punctuation and not is_space(each[0][0]))]


def _placed(text, flags):
    """[(token, first byte, the byte behind the last)]: a space is what stands between its neighbours."""
    found, kept = [], iter(_kept(text, flags))
    for word in _tokens(text, flags):
        if word == " ":
            found.append([word, found[-1][2], -1])
            continue
        first = last = next(kept)
        length = len(first[0])
        while length < len(word):
            last = next(kept)
            length += len(last[0])
        if found and found[-1][2] < 0:
            found[-1][2] = first[1]
        found.append([word, first[1], last[2]])
    assert next(kept, None) is None
    return [tuple(each) for each in found]


def _within(text, before, after):
    """A text between two others: (data, start, end), and its scratch."""
    middle = text.encode()
    data = frozen(np.frombuffer(before.encode() + middle + after.encode(), np.uint8))
    start = len(before.encode())
    return (data, start, start + len(middle)), np.zeros((2, 2 * len(middle) + 128), np.uint8)


def _spans(text, flags, *, before="", after="", seed=0, stops=NONE):
    """What the kernel says of a text between two others: [(hash, first byte, the byte behind the last)] in the text."""
    where, scratch = _within(text, before, after)
    room = where[2] - where[1] + 66
    hashes, spans = np.full(room + 1, CANARY, np.uint64), np.full((room + 1, 2), CANARY, np.int64)
    count = token_spans(*where, flags, hash_keys(seed), stops, *unicode.tables(), *scratch, hashes[:-1], spans[:-1])
    assert [CANARY] * 3 == [int(hashes[-1]), *spans[-1].tolist()]
    return list(zip(hashes[:count].tolist(), *(spans[:count] - where[1]).T.tolist(), strict=True))


@given(
    TEXTS, FLAGS, st.sampled_from(["", "ab", "é "]), st.sampled_from(["", "ab", "\u0301"]), st.integers(0, 2**128 - 1)
)
@example("", 0, "", "", 0)
@example("\u0301a\u0301\u200b\u0301, b", PUNCTUATION, "", "", 0)
@example("漢\u0301字a\u00ad\u0301 -", SPACE, "ab", "\u0301", 1)
@example(" a  b ", CHARS | SPACE, "", "", 0)
@example("ẞİK \U0001e900", KEEP_CASE, "", "", 2**128 - 1)
def test_tokens_stand_where_their_characters_do(text, flags, before, after, seed):
    """Each from its first character to the last mark of its last one, whatever stands around the text."""
    expected = [(twin.hash_bytes(token.encode(), seed), *span) for token, *span in _placed(text, flags)]
    assert expected == _spans(text, flags, before=before, after=after, seed=seed)


@given(TEXTS, FLAGS, st.data())
def test_stop_words_are_left_out_and_move_no_other(text, flags, data):
    """Whichever tokens they are."""
    placed = _placed(text, flags)
    stops = data.draw(st.sets(st.sampled_from(sorted({token for token, *_ in placed} | {"the"}))))
    hashes = frozen(np.array(sorted(twin.hash_bytes(token.encode()) for token in stops), np.uint64))
    expected = [(twin.hash_bytes(token.encode()), *span) for token, *span in placed if token not in stops]
    assert expected == _spans(text, flags, stops=hashes)


def _places(text, flags, wanted, before="", after=""):
    where, scratch = _within(text, before, after)
    spans = np.full((len(wanted) + 1, 2), CANARY, np.int64)
    numbers = frozen(np.array(wanted, np.int64))
    token_places(*where, flags, *unicode.tables(), *scratch, numbers, spans[:-1])
    assert [CANARY] * 2 == spans[-1].tolist()
    return [None if first == CANARY else (first - where[1], end - where[1]) for first, end in spans[:-1].tolist()]


@given(TEXTS, FLAGS, st.lists(st.integers(0, 12) | st.integers(0, 60)).map(sorted), st.sampled_from(["", "é "]))
@example("", 0, [], "")
@example("", 0, [0, 2**63 - 1], "")
@example("a b c", 0, [0, 0, 2, 2, 3, 3], "é ")
def test_chosen_tokens_are_found(text, flags, wanted, around):
    """By their numbers, also one that is asked for twice; what is beyond the last token is left as it was."""
    spans = [tuple(span) for _, *span in _placed(text, flags)]
    expected = [spans[number] if number < len(spans) else None for number in wanted]
    assert expected == _places(text, flags, wanted, around, around)


@pytest.mark.parametrize("text", ["a" * 1000, "a " * 500, "漢" * 400, "\U0001e900 " * 200, "- " * 300])
@pytest.mark.parametrize("flags", [0, PUNCTUATION, SPACE, CHARS, CHARS | SPACE | PUNCTUATION | KEEP_CASE])
def test_long_texts_of_one_thing_have_room(text, flags):
    """As many tokens as there can be, and as long a one; every second is found again."""
    placed = _placed(text, flags)
    assert [(twin.hash_bytes(token.encode()), *span) for token, *span in placed] == _spans(text, flags)
    numbers = list(range(0, len(placed), 2))
    assert [tuple(placed[number][1:]) for number in numbers] == _places(text, flags, numbers)
