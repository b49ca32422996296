"""The words that all have, as datatrove asks for them."""

from _task import words
from datatrove.utils.word_tokenizers import WordTokenizer


class Words(WordTokenizer):
    """The words that all have."""

    def word_tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return words(text)

    def sent_tokenize(self, text: str) -> list[str]:
        """Not asked for."""
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """Not asked for."""
        return [(0, len(text))]
