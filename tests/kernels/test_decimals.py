"""Whole numbers become the texts that Python makes of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.decimals import decimal_ends, write_decimals

EDGES = [0, 9, 10, -1, -9, -10, 2**63 - 1, -(2**63), *(10**n for n in range(19)), *(10**n - 1 for n in range(19))]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from(EDGES) | st.integers(-99, 99)))
def test_numbers_are_written_as_python_writes_them(numbers):
    """One behind the other."""
    values, ends = frozen(np.array(numbers, np.int64)), np.full(len(numbers) + 1, 7)
    decimal_ends(values, ends)
    out = np.zeros(int(ends[-1]), np.uint8)
    write_decimals(values, ends, out)
    texts = [str(number) for number in numbers]
    assert "".join(texts) == out.tobytes().decode()
    assert [0, *np.cumsum([*map(len, texts)]).tolist()] == ends.tolist()
