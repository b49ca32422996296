"""One contract, two stores: what `stores.base` promises holds for a file and for PostgreSQL alike."""

import bisect
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.errors import StoreBusyError, StoreError
from nearsame.stores import create_store, open_store
from nearsame.stores.base import Row
from tests.examples import share

SETTINGS = {"recipe": '{"method": "minhash"}', "store": "shingles"}
ALL = 1 << 40
EXTREMES = [-(2**63), -1, 0, 1, 2**63 - 1]
TEXTS = ["", "a", "ß", "漢字", "\U0001f600", "tab\t, line\n, \\N, \\., %s, 'quote'", "a" * 5000]


def int64s(values):
    """As keys and numbers come."""
    return np.array(list(values), np.int64)


def row(number, leader=None, text=None, id=None):
    """A document whose items tell its number."""
    return Row(
        number, id or f"id-{number}", None if number % 2 else f"http://x/{number}", b"\0\xff%d" % number, text, leader
    )


@pytest.fixture
def store(place):
    """A new one, published."""
    made = create_store(place, SETTINGS)
    made.publish()
    yield made
    made.close()


def fill(store, documents, keys_of=lambda number: [number % 3, 100 + number]):
    """So many documents, each with its keys; their numbers."""
    with store.writing(None) as write:
        first = write.reserve(documents)
        numbers = range(first, first + documents)
        pairs = [(key, number) for number in numbers for key in keys_of(number)]
        write.insert([row(number) for number in numbers], int64s(p[0] for p in pairs), int64s(p[1] for p in pairs))
    return list(numbers)


def add_twice(store, id):
    """Two documents of one id."""
    with store.writing(None) as write:
        number = write.reserve(2)
        write.insert([row(number, id=id), row(number + 1, id=id)], int64s([]), int64s([]))


def found(hits):
    """Hits as a sorted list of pairs."""
    return sorted(zip(hits.places.tolist(), hits.numbers.tolist(), strict=True))


def test_a_new_store_is_empty(store):
    """Nothing is in it, and nothing is wrong with it."""
    with store.reading() as read:
        assert {"documents": 0, "next": 1} == read.counts()
        assert ([], [], [], []) == (read.page(0, 10), read.largest(5), read.followers(1), read.problems())
        assert {} == read.named(["a"])
        assert {} == read.rows([1], missing_ok=True)
        assert [] == found(read.postings(int64s([1, 2]), ALL))
        assert [0, 0] == [column.size for column in read.postings_page(None, 10)]


def test_questions_about_nothing_are_answered(store):
    """No id, no number, no key."""
    fill(store, 2)
    with store.reading() as read:
        assert ({}, {}) == (read.named([]), read.rows([]))
        assert [] == found(read.postings(int64s([]), 3))
    with store.writing(int64s([])) as write:
        write.insert([], int64s([]), int64s([]))
        write.delete([], int64s([]), int64s([]))
        write.post(int64s([]), int64s([]))
        write.lead([])
    with store.reading() as read:
        assert 2 == read.counts()["documents"]


def test_settings_are_read_again(store, place):
    """What was written down when it was made, and the format."""
    again = open_store(place)
    assert SETTINGS == {name: value for name, value in again.settings.items() if name != "format"}
    assert store.settings == again.settings
    again.close()


@pytest.mark.parametrize("documents", [1, 5, 200], ids=["one", "few", "many"])
def test_documents_come_back_as_they_went(place, documents):
    """Whatever bytes and letters they hold, whether few go at once or many."""
    store = create_store(place, SETTINGS)
    store.publish()
    every = [
        Row(0, f"{text}{at}", text, bytes(range(256)) * (at % 40), text.encode() if at % 3 else None, None)
        for at in range(documents)
        for text in [TEXTS[at % len(TEXTS)]]
    ]
    with store.writing(None) as write:
        first = write.reserve(documents)
        every = [each._replace(number=first + at) for at, each in enumerate(every)]
        write.insert(every, int64s([]), int64s([]))
    with store.reading() as read:
        assert {each.number: each for each in every} == read.rows([each.number for each in every], text=True)
        assert {each.number: each._replace(text=None) for each in every} == read.rows([each.number for each in every])
        assert {each.id: each.number for each in every} == {
            id: row.number for id, row in read.named([each.id for each in every]).items()
        }
        assert every == read.page(0, documents + 1, text=True)
        assert every[1:2] == read.page(first, 1, text=True)
    store.close()


def test_keys_are_64_bits_of_any_sign(store):
    """The least and the largest are keys as all others."""
    with store.writing(int64s(EXTREMES)) as write:
        number = write.reserve(1)
        write.insert([row(number)], int64s(EXTREMES), int64s([number] * len(EXTREMES)))
    with store.reading() as read:
        assert [(at, number) for at in range(len(EXTREMES))] == found(read.postings(int64s(EXTREMES), ALL))
        assert EXTREMES == read.postings_page(None, 10)[0].tolist()
        assert EXTREMES[3:] == read.postings_page((0, number), 10)[0].tolist()


@pytest.mark.parametrize("asked", [1, 15, 17, 700, 5000])
def test_any_number_of_keys_is_looked_up_at_once(store, asked):
    """Those that nobody has are simply not found."""
    numbers = fill(store, 300, lambda number: [7 * number, 7 * number + 1])
    with store.reading() as read:
        keys = int64s(range(asked))
        expected = sorted((key, number) for number in numbers for key in (7 * number, 7 * number + 1) if key < asked)
        assert expected == found(read.postings(keys, ALL))


def test_the_first_of_a_key_are_those_with_the_smallest_numbers(store):
    """So many of each key, ascending."""
    numbers = fill(store, 30)
    with store.reading() as read:
        hits = read.postings(int64s([0, 1, 2, 3]), 2)
        expected = [(key, number) for key in range(3) for number in [n for n in numbers if n % 3 == key][:2]]
        assert expected == list(zip(hits.places.tolist(), hits.numbers.tolist(), strict=True))


def test_a_key_that_very_many_have_is_read_as_far_as_is_asked(store):
    """However many that is, and beside keys that few have."""
    numbers = fill(store, 5_000, lambda number: [1, 2] if number % 1_000 == 0 else [1])
    few = [(1, number) for number in numbers if number % 1_000 == 0]
    with store.reading() as read:
        for most in (1, 100, 4_999, ALL):
            first = [(0, number) for number in numbers[:most]]
            assert [*first, *few[:most]] == found(read.postings(int64s([1, 2, 3]), most))


def test_postings_are_paged_in_order(store):
    """By key and number, from where the last page ended."""
    numbers = fill(store, 50)
    expected = sorted((key, number) for number in numbers for key in (number % 3, 100 + number))
    got, after = [], None
    with store.reading() as read:
        while True:
            keys, of = read.postings_page(after, 7)
            if not keys.size:
                break
            got += zip(keys.tolist(), of.tolist(), strict=True)
            after = got[-1]
    assert expected == got


def test_numbers_are_never_given_again(store):
    """Not after a removal, not after a transaction that was given up."""
    numbers = fill(store, 3)
    with store.writing(None) as write:
        write.delete(numbers, int64s([]), int64s([]))
    with given_up(store) as write:
        lost = write.reserve(1)
    later = fill(store, 1)
    assert later[0] > numbers[-1]
    assert later[0] >= lost
    with store.reading() as read:
        assert later[0] < read.counts()["next"]
        assert 1 == read.counts()["documents"]


def test_a_transaction_that_fails_did_not_happen(store):
    """Whatever it had done; what was there before is untouched, and the store goes on."""
    numbers = fill(store, 5)
    with given_up(store) as write:
        more = write.reserve(100)
        write.insert([row(n) for n in range(more, more + 100)], int64s([1]), int64s([more]))
        write.delete(numbers[:1], int64s([numbers[0] % 3]), int64s(numbers[:1]))
        write.lead([(numbers[2], numbers[1])])
    with store.reading() as read:
        assert numbers == [each.number for each in read.page(0, 1000)]
        assert [None] * 5 == [each.leader for each in read.page(0, 1000)]
        assert 10 == read.postings_page(None, 100)[0].size
        assert 5 == read.counts()["documents"]
        assert [] == read.problems()
    assert 2 == len(fill(store, 2))


def test_a_transaction_sees_what_it_did(store):
    """Before anybody else does."""
    with store.writing(None) as write:
        first = write.reserve(2)
        write.insert([row(first), row(first + 1)], int64s([5, 5]), int64s([first, first + 1]))
        assert [(0, first), (0, first + 1)] == found(write.postings(int64s([5]), ALL))
        assert {f"id-{first}": first} == {id: row.number for id, row in write.named([f"id-{first}"]).items()}
        assert 2 == write.counts()["documents"]
        write.delete([first], int64s([5]), int64s([first]))
        assert [first + 1] == [each.number for each in write.page(0, 10)]
        assert 1 == write.counts()["documents"]


def test_leaders_are_those_that_lead_most(store):
    """Among equals the smaller number comes first; who has none leads itself."""
    numbers = fill(store, 9)
    a, b, c, d = numbers[:4]
    with store.writing(None) as write:
        write.lead([(numbers[4], a), (numbers[5], c), (numbers[6], b), (numbers[7], b), (d, a)])
        write.lead([(d, None)])
    with store.reading() as read:
        assert [(b, 2), (a, 1), (c, 1)] == read.largest(10)
        assert [(a, 1)] == read.largest(1, 1)
        assert (3, 4) == read.grouped()
        assert [numbers[6], numbers[7]] == read.followers(b)
        assert [numbers[6]] == read.followers(b, 1)
        assert {a: None, d: None, numbers[4]: a} == {n: r.leader for n, r in read.rows([a, d, numbers[4]]).items()}


def test_ids_and_addresses_are_searched(store):
    """All words must be there, of either; A to Z count as small; what has a meaning in a pattern has none here."""
    names = [("Harbour/ferry", None), ("b%_", "https://Example.org/ferry"), ("c", "https://example.org/c"), ("É", None)]
    with store.writing(None) as write:
        first = write.reserve(len(names))
        rows = [row(first + at)._replace(id=id, url=url) for at, (id, url) in enumerate(names)]
        write.insert(rows, int64s([]), int64s([]))
    with store.reading() as read:

        def hits(words, after=0, limit=10):
            return [each.id for each in read.containing(words.split(), after, limit)]

        assert ["Harbour/ferry", "b%_"] == hits("ferry")
        assert ["b%_", "c"] == hits("example.org")
        assert (["b%_"], ["b%_"], [], ["É"]) == (hits("ferry example"), hits("%_"), hits("' é"), hits("É"))
        assert (["Harbour/ferry"], ["b%_"]) == (hits("ferry", 0, 1), hits("ferry", first))


def test_an_id_stands_once(store):
    """Two of one id are refused, and nothing of that transaction is kept."""
    fill(store, 1)
    with pytest.raises(StoreError):
        add_twice(store, "same")
    with store.reading() as read:
        assert 1 == read.counts()["documents"]
    fill(store, 1)


def test_a_snapshot_does_not_change(store, place):
    """What others commit meanwhile is seen by the next one; and nobody has waited."""
    fill(store, 2)
    reader = open_store(place, read_only=True)
    with reader.reading() as read:
        before = [each.number for each in read.page(0, 100)]
        fill(store, 2)
        with store.writing(None) as write:
            write.delete(before[:1], int64s([]), int64s([]))
        assert before == [each.number for each in read.page(0, 100)]
        assert 2 == read.counts()["documents"]
    with reader.reading() as read:
        assert 3 == read.counts()["documents"]
    reader.close()


def test_who_opened_it_to_read_cannot_write(store, place):
    """It is an error that says so, not a change."""
    reader = open_store(place, read_only=True)
    with pytest.raises(StoreError, match="read"):
        fill(reader, 1)
    with reader.reading() as read:
        assert 0 == read.counts()["documents"]
    reader.close()


def test_nobody_sees_a_store_that_is_not_published(place):
    """Neither while it is filled, nor after it was given up; then it is there, complete."""
    making = create_store(place, SETTINGS)
    fill(making, 100)
    with pytest.raises(StoreError):
        open_store(place)
    making.close()
    with pytest.raises(StoreError):
        open_store(place)
    making = create_store(place, SETTINGS)
    numbers = fill(making, 100)
    with making.reading() as read:
        assert 100 == read.counts()["documents"]
        assert [(0, n) for n in numbers if n % 3 == 1] == found(read.postings(int64s([1]), ALL))
    making.publish()
    assert 1 == len(fill(making, 1))
    making.close()
    again = open_store(place)
    with again.reading() as read:
        assert 101 == read.counts()["documents"]
        assert [] == read.problems()
    again.close()


def test_a_store_in_the_making_takes_back_what_failed(place):
    """One transaction of several, as later."""
    making = create_store(place, SETTINGS)
    fill(making, 3)
    with given_up(making) as write:
        number = write.reserve(1)
        write.insert([row(number)], int64s([1]), int64s([number]))
    fill(making, 2)
    making.publish()
    with making.reading() as read:
        assert 5 == len(read.page(0, 100))
        assert [] == read.problems()
    making.close()


def test_a_place_that_is_taken_is_refused_or_replaced(store, place):
    """By whoever says so; the old one is there until the new one is complete."""
    fill(store, 4)
    with pytest.raises(StoreError, match="exists"):
        create_store(place, SETTINGS)
    store.close()
    new = create_store(place, {**SETTINGS, "store": "text"}, overwrite=True)
    fill(new, 7)
    old = open_store(place)
    with old.reading() as read:
        assert 4 == read.counts()["documents"]
    old.close()
    new.publish()
    new.close()
    again = open_store(place)
    with again.reading() as read:
        assert (7, "text") == (read.counts()["documents"], again.settings["store"])
    again.close()


def test_nobody_writes_to_one_that_is_being_replaced(store, place):
    """What it is when it is looked at last is what is lost; and who looks may refuse, and it stays."""
    fill(store, 4)
    store.close()

    def refuse(old):
        assert 4 == old.counts()["documents"]
        with pytest.raises(StoreBusyError), closing(open_store(place, timeout_seconds=0.05)) as other:
            fill(other, 1)
        raise KeyError

    with closing(create_store(place, SETTINGS, overwrite=True)) as new:
        fill(new, 7)
        with pytest.raises(KeyError):
            new.publish(refuse)
    with closing(open_store(place)) as again:
        fill(again, 1)
        with again.reading() as read:
            assert 5 == read.counts()["documents"]
            assert [] == read.problems()


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 3e6, 1e300, float("inf")])
def test_a_wait_may_be_as_long_or_short_as_one_likes(store, place, seconds):
    """It is none where it is negative, and weeks where it has no end."""
    fill(store, 2)
    store.close()
    with closing(create_store(place, SETTINGS, overwrite=True, timeout_seconds=max(seconds, 1))) as new:
        new.publish()
    with closing(open_store(place, timeout_seconds=seconds)) as opened:
        fill(opened, 3)
        with opened.writing(None) as write:
            write.delete([1], int64s([]), int64s([]))
        with opened.reading() as read:
            assert 2 == read.counts()["documents"]


def test_who_replaces_one_waits_until_it_is_closed(place):
    """As long as is said, and no longer."""
    with closing(create_store(place, SETTINGS)) as first:
        first.publish()
    begun, go = threading.Event(), threading.Event()

    def use():
        with closing(open_store(place)) as busy:
            fill(busy, 1)
            with busy.writing(None):
                begun.set()
                go.wait()

    with (
        closing(create_store(place, SETTINGS, overwrite=True, timeout_seconds=0.2)) as hasty,
        closing(create_store(place, SETTINGS, overwrite=True, timeout_seconds=60)) as patient,
        ThreadPoolExecutor() as pool,
    ):
        using = pool.submit(use)
        begun.wait()
        try:
            with pytest.raises(StoreBusyError, match=r"0\.2 s"):
                hasty.publish()
            waiting = pool.submit(patient.publish)
        finally:
            go.set()
        using.result()
        waiting.result()
    with closing(open_store(place)) as again, again.reading() as read:
        assert 0 == read.counts()["documents"]


def test_of_two_that_are_made_at_one_place_one_is(place):
    """The second to be published is refused."""
    first, second = create_store(place, SETTINGS), create_store(place, SETTINGS)
    fill(first, 1)
    first.publish()
    with pytest.raises(StoreError, match="exists"):
        second.publish()
    second.close()
    with first.reading() as read:
        assert 1 == read.counts()["documents"]
    first.close()


def test_its_size_grows_with_what_it_holds(store):
    """In bytes."""
    before = store.size_bytes()
    fill(store, 2000)
    assert 0 < before < store.size_bytes()


class Model:
    """The same in plain lists."""

    def __init__(self):
        self.rows, self.pairs = {}, set()

    def apply(self, kind, value, write):
        """One step, in both."""
        if kind == "add":
            first = write.reserve(len(value))
            rows = [row(first + at) for at in range(len(value))]
            pairs = [(key, first + at) for at, keys in enumerate(value) for key in keys]
            write.insert(rows, int64s(p[0] for p in pairs), int64s(p[1] for p in pairs))
            self.rows.update({each.number: each for each in rows})
            self.pairs.update(pairs)
        elif self.rows:
            numbers = sorted(self.rows)
            one, other = numbers[value[0] % len(numbers)], numbers[value[1] % len(numbers)]
            if kind == "remove":
                gone = sorted(p for p in self.pairs if p[1] == one)
                write.delete([one], int64s(p[0] for p in gone), int64s(p[1] for p in gone))
                self.pairs.difference_update(gone)
                del self.rows[one]
            elif kind == "lead":
                write.lead([(one, other)])
                self.rows[one] = self.rows[one]._replace(leader=other)
            elif (key := 50 + value[1], one) not in self.pairs:
                write.post(int64s([key]), int64s([one]))
                self.pairs.add((key, one))

    def check(self, read):
        """Every question has the same answer."""
        numbers, keys = sorted(self.rows), sorted({key for key, _ in self.pairs} | {3, 99})
        assert [self.rows[n] for n in numbers] == read.page(0, 10_000)
        assert sorted(self.pairs) == list(zip(*(c.tolist() for c in read.postings_page(None, 10_000)), strict=True))
        expected = sorted((bisect.bisect_left(keys, key), number) for key, number in self.pairs)
        assert expected == found(read.postings(int64s(keys), ALL))
        assert [e for at in range(len(keys)) for e in [p for p in expected if p[0] == at][:2]] == found(
            read.postings(int64s(keys), 2)
        )
        led = {}
        for each in self.rows.values():
            if each.leader is not None:
                led[each.leader] = led.get(each.leader, 0) + 1
        assert sorted(led.items(), key=lambda pair: (-pair[1], pair[0])) == read.largest(1000)
        assert len(numbers) == read.counts()["documents"]
        assert [] == read.problems()


STEPS = st.one_of(
    st.tuples(st.just("add"), st.lists(st.sets(st.integers(-2, 6), max_size=4), max_size=4)),
    st.tuples(st.just("add"), st.just([[1, 2], [2, 3]] * 40)),
    st.tuples(st.sampled_from(["remove", "lead", "post"]), st.tuples(st.integers(0, 99), st.integers(0, 9))),
)


@contextmanager
def given_up(store):
    """A transaction that fails at its end."""
    with suppress(InterruptedError), store.writing(None) as write:
        yield write
        interrupt()


def interrupt():
    """Fail."""
    raise InterruptedError


@given(st.data())
@settings(max_examples=share(15))
def run_model(place, data):
    """Transactions of some steps each, some of them given up; the store is in the making, or published."""
    with closing(create_store(place, SETTINGS, overwrite=True)) as store:
        if data.draw(st.booleans()):
            store.publish()
        model = Model()
        for _ in range(data.draw(st.integers(0, 5))):
            fails = data.draw(st.booleans())
            trial = Model()
            trial.rows, trial.pairs = dict(model.rows), set(model.pairs)
            with given_up(store) if fails else store.writing(None) as write:
                for kind, value in data.draw(st.lists(STEPS, min_size=1, max_size=4)):
                    trial.apply(kind, value, write)
                trial.check(write)
            model = model if fails else trial
            with store.reading() as read:
                model.check(read)


def test_a_store_is_what_plain_lists_would_be(place):
    """After any transactions, whether kept or given up, in the making or published."""
    run_model(place)
