"""Questions in words lead to the symptom that they describe, to suggestions, or nowhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.cli import main
from dataloader_lint.rules.messages import answer
from dataloader_lint.rules.questions.concepts import mentions, plain, vocabulary
from dataloader_lint.rules.questions.lexicon import CONCEPTS
from dataloader_lint.rules.questions.ranking import MOST, all_phrases
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.symptoms import GROUPS, SYMPTOMS
from docs import questions

ANSWERED = [
    ("the RAM fills up over the epochs and then the job gets killed", "A worker was killed for its memory"),
    ("host memory keeps climbing while training", "Memory grows"),
    ("speed goes down when I use more workers", "Workers make it slower"),
    ("workers make it slower", "Workers make it slower"),
    ("GPU sits idle waiting for data", "GPU use goes up and down, or stays low"),
    ("continue from a checkpoint in the middle of an epoch without loading all batches again", "Resuming"),
    ("one rank has fewer batches and DDP hangs", "Ranks with different numbers"),
    (
        "epoch one takes an hour, the second epoch takes five minutes; is the first slow because of disk cache?",
        "The first",
    ),
    ("each epoch gets slower", "Epochs get slower"),
    ("how many workers should I use", "How many workers"),
    ("cv2 uses all threads in every worker", "Threads of OpenCV"),
    ("every worker yields the whole iterable dataset", "Samples come twice"),
    ("shuffle gives the same order each epoch with DistributedSampler", "The order is the same"),
    ("内存一直涨", "Memory grows"),
    ("dataloader 死锁", "It hangs without a message"),
    ("メモリリーク dataloader", "Memory grows"),
    ("데이터로더가 멈춥니다", "It hangs without a message"),
    ("DataLoader se cuelga", "It hangs without a message"),
    ("Speicher wächst mit jeder Epoche", "Memory grows"),
    ("DataLoader зависает", "It hangs without a message"),
    ("memroy leak in dataloader", "Memory grows"),
    ("weighted random sampler always draws the same class", "WeightedRandomSampler draws"),
    ("why does my dataloader use all cpu cores", "Threads of OpenCV"),
    ("dataloader returns None and crashes in default_collate", "A sample is None"),
    ("ValueError: Expected more than 1 value per channel when training, got input size", "The last batch has"),
    ("There appear to be 14 leaked semaphore objects to clean up at shutdown", "Semaphores are left"),
]
ELSEWHERE = [
    "my validation loss does not go down",
    "GPU memory grows with each iteration",
    "which learning rate for a transformer",
    "pip cannot install torch",
    "tf.data pipeline is slow",
    "the moon is made of green cheese",
]


@pytest.mark.parametrize(("text", "title"), ANSWERED)
def test_a_question_leads_to_its_symptom(text: str, title: str) -> None:
    found = answer(text)
    assert found is not None
    assert found.is_sure
    assert found.symptom is not None
    assert found.symptom.title.startswith(title)


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_is_no_question_about_data_loading_has_no_answer(text: str) -> None:
    assert answer(text) is None


def test_workers_that_make_it_slower_are_not_what_is_advised() -> None:
    found = answer("num_workers > 0 is slower than num_workers = 0")
    assert found is not None
    assert "DL306" not in [each.rule.code for each in found.rules]


def test_what_does_not_fit_is_marked_as_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "gpu slow"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Nothing fits exactly; the closest:"
    assert 1 <= sum(line.startswith("- ") for line in lines) <= MOST
    assert main(["--explain", "zebra crossing"]) == 2


def test_a_word_is_a_question_and_what_looks_like_a_code_or_name_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "ancdata"]) == 0
    assert capsys.readouterr().out.startswith("Too many open files")
    assert main(["--explain", "lambda-collate"]) == 2
    assert "unknown rule 'lambda-collate'" in capsys.readouterr().err
    assert main(["--explain", "DL399"]) == 2


def test_phrases_are_made_of_concepts() -> None:
    used = {name for phrases in all_phrases() for each in phrases for names in each.wanted for name in names}
    used |= {name for phrases in all_phrases() for each in phrases for name in each.unwanted}
    assert used <= CONCEPTS.keys()


@pytest.mark.parametrize("code", [code for code, found in found_rules().items() if found.check])
def test_a_symptom_names_the_rule(code: str) -> None:
    assert any(code in each.rules for each in SYMPTOMS), "add it to the symptom that its users see, in rules/symptoms/"


def test_words_with_one_wrong_letter_count() -> None:
    for wrong in ("memroy", "memoryy", "memry", "memery"):
        assert [each.concept for each in mentions(plain(wrong))] == ["memory"], wrong
    assert "memory" in vocabulary()


def test_long_texts_take_no_time() -> None:
    assert answer("data loading worker memory grow slow " * 3_000) is not None
    assert answer("x" * 200_000) is None


def test_pages_show_each_symptom_once() -> None:
    shown = [each.title for several in GROUPS.values() for each in several]
    assert sorted(shown) == sorted(each.title for each in SYMPTOMS)


@pytest.mark.parametrize(
    ("pattern", "portable"),
    [("ab", "[aA][bB]"), (r"\bx\d[\w:]", r"\b[xX]\d[\w:]"), ("(?-i:[A-Z])b", "(?:[A-Z])[bB]"), ("[a-c]?", "[a-cA-C]?")],
)
def test_patterns_for_engines_without_inline_flags(pattern: str, portable: str) -> None:
    assert questions.portable(pattern) == portable


def test_the_website_answers_as_the_command_does(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    here = Path(__file__).parent
    known = json.loads((here / "known_messages.json").read_text(encoding="utf-8"))
    texts = [text for several in known.values() for text in several] + [text for text, _ in ANSWERED] + ELSEWHERE
    script = (here.parent / "docs" / "assets" / "questions.js").as_posix()
    (tmp_path / "index.json").write_text(questions.render(), encoding="utf-8")
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    (tmp_path / "ask.js").write_text(
        f"const {{ answer }} = require({script!r}), index = require('./index.json');\n"
        "const said = require('./texts.json').map((text) => answer(index, text));\n"
        "console.log(JSON.stringify(said.map((one) => one && [one.titles, one.isSure])));\n",
        encoding="utf-8",
    )
    done = processes.run([node, str(tmp_path / "ask.js")], cwd=tmp_path, check=True)
    for text, said in zip(texts, json.loads(done.stdout), strict=True):
        found = answer(text)
        titles = [each.title.replace("`", "") for each in (found.symptom, *found.beside) if each] if found else []
        assert said == ([titles, found.is_sure] if found else None), text
