"""The slow, obvious twins: what nearsame means, written so that it can be read and believed.

1. Pure Python: no NumPy, no Numba, nothing imported from nearsame.
2. Similarities are Fractions; nothing is rounded, hashed, sorted for speed or cached.
3. When a twin and the fast code differ, the issue's text decides which of them is wrong.
"""
