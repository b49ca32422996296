"""Made-up texts with copies and near copies among them."""

import random


def documents(number: int, seed: int = 1) -> list[str]:
    """So many texts of 120 words; every fifth is made from an earlier one."""
    chance = random.Random(seed)
    made: list[list[str]] = []
    for _ in range(number):
        words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(120)]
        if made and chance.random() < 0.2:
            words = list(chance.choice(made))
            for _ in range(chance.choice([0, 1, 2, 5])):
                words[chance.randrange(len(words))] = "changed"
        made.append(words)
    return [" ".join(words) for words in made]
