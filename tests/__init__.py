"""The tests: they mirror src/nearsame, and oracle/ holds the slow, obvious twins."""
