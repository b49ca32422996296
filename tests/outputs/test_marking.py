"""Texts cut into pieces for a page."""

from hypothesis import given
from hypothesis import strategies as st

from nearsame.outputs.marking import pieces

SPANS = st.lists(st.tuples(st.integers(0, 9000), st.integers(1, 4000)), max_size=6)


def of(text, drawn):
    """Spans within a text, numbered."""
    cut = [(start, min(start + length, len(text))) for start, length in drawn if start < len(text)]
    return [(start, end, number) for number, (start, end) in enumerate(cut, 1)]


@given(st.text(max_size=300).map(lambda text: text * 40), SPANS)
def test_everything_is_there_or_counted(text, drawn):
    """The pieces, with as many characters as the gaps say, are the text."""
    spans = of(text, drawn)
    assert text == "".join(piece.text for piece in pieces(text, spans, everything=True))
    shown = pieces(text, spans, everything=False)
    done = 0
    for piece in shown:
        if piece.kind == "gap":
            done += piece.left_out
        else:
            assert piece.text == text[done : done + len(piece.text)]
            done += len(piece.text)
    assert len(text) == done


@given(st.integers(0, 9000).map("x".__mul__), SPANS)
def test_every_shared_character_is_marked_and_no_other(text, drawn):
    """Whatever overlaps; and each passage begins once."""
    spans = of(text, drawn)
    found = pieces(text, spans, everything=True)
    marked, done = set(), 0
    for piece in found:
        if piece.kind == "shared":
            marked |= set(range(done, done + len(piece.text)))
        done += len(piece.text)
    assert {place for start, end, _ in spans for place in range(start, end)} == marked
    assert sorted(number for _, _, number in spans) == sorted(piece.passage for piece in found if piece.first)


def test_long_stretches_are_left_out():
    """What is not shared is shown next to a passage only."""
    found = pieces("a" * 5000 + "SHARED" + "b" * 5000, [(5000, 5006, 1)], everything=False)
    assert ["gap", "other", "shared", "other", "gap"] == [piece.kind for piece in found]
    assert ["SHARED"] == [piece.text for piece in found if piece.kind == "shared"]
