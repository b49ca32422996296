"""The number of pairs is predicted before any work on them."""

import pytest

import nearsame as ns
from nearsame.flow.corpus import Question
from nearsame.frames.corpus import Frames
from nearsame.frames.foreseeing import foreseen


def _template(spark, count):
    """Texts that differ in one word."""
    common = " ".join(f"word{place}" for place in range(40))
    return spark.createDataFrame([(f"{common} own{number}",) for number in range(count)], "text string")


def test_a_hot_key_is_refused_before_it_is_paired(spark, monkeypatch):
    """Nothing is compared but some of its documents."""
    monkeypatch.setattr(Frames, "answer", lambda *_: pytest.fail("pairs were looked for"))
    with pytest.raises(ns.TooManyPairsError, match=r"about [\d,]+ pairs: above max_pairs=10,000"):
        ns.pairs(_template(spark, 1000), max_pairs=10_000, engine=ns.Spark(spark, driver_bytes=0))


def test_what_fits_is_not_refused_and_what_does_not_is_foreseen(spark):
    """By no more than chance allows: all of a template are similar, 190 pairs of 20."""
    found = ns.pairs(_template(spark, 20), engine=ns.Spark(spark), audit=False)
    state, question = found.run.state, Question(found.method.least, "pairs")
    assert found.num_pairs == 190
    assert 0 == foreseen(state, question, 200)
    assert 190 == foreseen(state, question, 100)
    found.release()


@pytest.mark.parametrize("driver_bytes", ["64MB", 0])
def test_of_two_sides_only_pairs_across_are_predicted(spark, driver_bytes, monkeypatch):
    """40 times 30 of them, where 70 documents share each key."""
    new, old = _template(spark, 40), _template(spark, 30).selectExpr("concat(text, ' old') as text")
    engine = ns.Spark(spark, driver_bytes=driver_bytes)
    found = ns.pairs(new, against=old, engine=engine, audit=False)
    assert 1200 == found.num_pairs
    found.release()
    monkeypatch.setattr(Frames, "answer", lambda *_: pytest.fail("pairs were looked for"))
    with pytest.raises(ns.TooManyPairsError, match=r"about 1,[12]\d\d pairs: above max_pairs=1,000"):
        ns.pairs(new, against=old, max_pairs=1000, engine=engine)


def test_one_hot_key_among_many_others_is_predicted(spark, monkeypatch):
    """A bucket that holds most pairs is always drawn, however many others there are."""
    few = " ".join(f"w{word}" for word in range(40))
    texts = [f"{few} own{number}" for number in range(300)]
    texts += [
        f"{' '.join(f'g{group}x{word}' for word in range(40))} own{copy}" for group in range(200) for copy in "ab"
    ]
    rows = spark.createDataFrame([(text,) for text in texts], "text string")
    monkeypatch.setattr(Frames, "answer", lambda *_: pytest.fail("pairs were looked for"))
    with pytest.raises(ns.TooManyPairsError, match=r"about 4[45],\d\d\d pairs: above max_pairs=20,000"):
        ns.pairs(rows, max_pairs=20_000, engine=ns.Spark(spark))
