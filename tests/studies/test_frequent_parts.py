"""Pairs that share hardly anything but what many documents have are found, with that part; others are not."""

from nearsame.studies.frequent_parts import SharedPassages, frequent_parts
from tests.cli.commands import words

LICENCE = "Permission is hereby granted, free of charge, to any person who obtains a copy of this"
NOTICE = "Cookies help us to bring you what you came for, and by going on you say yes"


def test_pairs_that_share_only_a_frequent_part_stand_with_it():
    """Two parts, each with its pairs; a pair that shares more, and one that shares something else, with neither."""
    shared = [SharedPassages(at, 2 * at, 2 * at + 1, (LICENCE,)) for at in range(4)]
    shared += [SharedPassages(10 + at, 50, 51 + at, (NOTICE.upper(),)) for at in range(5)]
    shared += [
        SharedPassages(20, 60, 61, (LICENCE, " ".join(words(40, 1)))),
        SharedPassages(21, 62, 63, (words(40, 2)[0],)),
    ]
    licence, notice = frequent_parts(shared)
    assert (LICENCE.rstrip("."), 10, (0, 1, 2, 3)) == (licence.text, licence.documents, licence.pairs)
    assert (NOTICE.upper(), 6, (10, 11, 12, 13, 14)) == (notice.text, notice.documents, notice.pairs)


def test_few_documents_make_no_part():
    """Nor does nothing."""
    assert () == frequent_parts([])
    assert () == frequent_parts([SharedPassages(0, 0, 1, ())])
    assert () == frequent_parts([SharedPassages(at, 0, 1 + at, (LICENCE,)) for at in range(3)])
