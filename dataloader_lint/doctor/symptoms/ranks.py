"""The order of symptoms: what ends the program, what gives wrong data, what costs memory, what costs time, the rest."""

from __future__ import annotations

FAILS, WRONG, MEMORY, SPEED, PORTABILITY = range(5)
FEWEST = 4  # things of a kind that make a symptom
MEMORY_CODES = ("DL101", "DL102", "DL103", "DL104", "DL105", "DL611")
