"""The tests: they mirror src/samesame, and oracle/ holds the slow, obvious twins."""
