"""Questions in words lead to the symptom that they describe, to suggestions, or nowhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.cli import main
from dataloader_lint.diagnostics import Level
from dataloader_lint.rules.messages import answer
from dataloader_lint.rules.questions.concepts import mentions, plain, vocabulary
from dataloader_lint.rules.questions.lexicon import CONCEPTS
from dataloader_lint.rules.questions.ranking import MOST, all_phrases
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.selection import members
from dataloader_lint.rules.symptoms import GROUPS, SYMPTOMS
from docs import questions

ANSWERED = [
    ("the RAM fills up over the epochs and then the job gets killed", "A worker was killed for its memory"),
    ("host memory keeps climbing while training", "Memory grows"),
    ("speed goes down when I use more workers", "Workers make it slower"),
    ("workers make it slower", "Workers make it slower"),
    ("data loading got slower after I increased num_workers", "Workers make it slower"),
    ("adding workers slows training down", "Workers make it slower"),
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
    ("first batch takes forever", "The first batch of each epoch is slow"),
    ("first batch of each epoch", "The first batch of each epoch is slow"),
    ("first batch slow", "The first batch of each epoch is slow"),
    ("why does my validation take longer each epoch", "Epochs get slower"),
    ("epochs get longer and longer", "Epochs get slower"),
    ("works on linux but not on windows", "It works on Linux"),
    ("it not work on windows but work in linux", "It works on Linux"),
    ("runs on Ubuntu and raises on my Mac", "It works on Linux"),
    ("spawn", "It works on Linux"),
    ("loader breaks with python 3.14", "It works on Linux"),
    ("what does persistent_workers do", "What `persistent_workers` does"),
    ("what means persistent worker", "What `persistent_workers` does"),
    ("what is num_workers good number", "What `num_workers` does"),
    ("what is prefetch_factor for", "What `prefetch_factor` does"),
    ("meaning of pin_memory", "What `pin_memory` does"),
    ("drop_last", "What `drop_last` does"),
    ("collate_fn", "What `collate_fn` does"),
    ("how does worker_init_fn work", "What `worker_init_fn` does"),
    ("explain timeout of a DataLoader", "What `timeout` does"),
    ("multiprocessing_context", "What `multiprocessing_context` does"),
    ("do my workers all get the same numpy random seed?", "Workers draw the same"),
    ("how silence a finding", "Suppressing a finding"),
    ("turn off one rule", "Suppressing a finding"),
    ("noqa", "Suppressing a finding"),
    ("is my list of path bad", "A list or dict of samples"),
    ("Speicher wird immer mehr bei jedem Epoch", "Memory grows"),
    ("variable length audio padding", "Samples of different sizes"),
    ("GPU sits at 30% while librosa loads wav files", "GPU use goes up and down"),
    ("AttributeError: Can't pickle local object", "A lambda, nested function or local class"),
    ("AttributeError: Can't pickle local object 'make.<locals>.flip'", "A nested function"),
    ("Workers draw the same random numbers", "Workers draw the same random numbers"),
]
SUGGESTED = ["GPU is only 20% busy", "is validation slow", "windows", "timeout"]
NAMED = {
    "can I use CUDA tensors in my dataset": "DL215",
    "cuda tensors in dataset": "DL215",
    "two forks: can a handle be opened in init of a dataset": "DL205",
}
ELSEWHERE = [
    "my validation loss does not go down",
    "GPU memory grows with each iteration",
    "which learning rate for a transformer",
    "pip cannot install torch",
    "tf.data pipeline is slow",
    "the moon is made of green cheese",
    "how to install torch on windows",
    "what does model.eval do",
    "how do I fine-tune llama",
    "which optimizer is best",
    "how does attention work",
    "how do I keep a list of models",
    "class weights for the loss per class",
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


@pytest.mark.parametrize("text", SUGGESTED)
def test_what_may_be_about_data_loading_gets_suggestions(text: str) -> None:
    found = answer(text)
    assert found is not None
    assert not found.is_sure
    assert found.symptom is not None


@pytest.mark.parametrize(("text", "code"), NAMED.items())
def test_the_words_of_a_rules_name_lead_to_it(text: str, code: str) -> None:
    found = answer(text)
    assert found is not None
    assert found.is_sure
    assert [each.rule.code for each in found.rules] == [code]


def said(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--isolated", "--explain", text]) == 0
    return capsys.readouterr().out


def test_a_code_in_a_question_leads_to_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("DL201 how fix", capsys) == said("DL201", capsys)
    assert said("how do I silence DL201?", capsys).startswith("Suppressing a finding")


def test_several_codes_show_the_page_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("DL201 DL202", "DL201,DL202", "dl201, DL202 DL201"):
        assert main(["--explain", text]) == 0
        shown = capsys.readouterr().out
        assert [line[2:7] for line in shown.splitlines() if line.startswith("# DL")] == ["DL201", "DL202"]
    assert main(["--explain", "DL201 DL299"]) == 2
    assert "unknown rule 'DL299'" in capsys.readouterr().err


ALONE = {
    "padding": ["Samples of different sizes", "DistributedSampler pads: samples count twice in an evaluation"],
    "Reproducibility": ["Results differ between runs, or with the number of workers"],
    "resume": ["Resuming: the data starts from the beginning, or in another order"],
}


@pytest.mark.parametrize(("text", "titles"), ALONE.items())
def test_a_topic_of_one_word_has_an_answer(text: str, titles: list[str]) -> None:
    found = answer(text)
    assert found is not None
    assert found.is_sure
    assert [each.title for each in (found.symptom, *found.beside) if each is not None] == titles
    beside_another = answer(f"conv {text}")
    assert beside_another is None or not beside_another.is_sure


def test_topics_list_their_rules(capsys: pytest.CaptureFixture[str]) -> None:
    codes = {
        name: [line[:5] for line in said(name, capsys).splitlines() if line.startswith("DL")]
        for name in ("memory", "speed", "py314", "warning", "threads", "Pickling", "slow", "DL1")
    }
    assert codes["memory"] == [each.rule.code for each in members("memory")]
    assert codes["speed"] == [each.rule.code for each in members("speed")]
    assert codes["py314"] == [each.rule.code for each in members("py314")]
    assert codes["warning"] == [code for code, each in found_rules().items() if each.rule.level is Level.WARNING]
    assert codes["threads"] == [code for code in found_rules() if code.startswith("DL5")]
    assert codes["Pickling"] == sorted({code for each in GROUPS["Pickling"] for code in each.rules})
    assert codes["slow"] == sorted({code for each in GROUPS["Slow"] for code in each.rules})
    assert codes["DL1"] == [code for code in found_rules() if code.startswith("DL1")]
    assert "(`--select memory`)" in said("memory", capsys)


def test_what_is_seen_as_well_says_how_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said("what does timeout do in DataLoader", capsys).splitlines()
    title = lines[lines.index('See also (`--explain "TITLE"`):') + 1].removeprefix("- ")
    assert said(title, capsys).startswith(title)


def test_what_is_no_cause_is_not_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    text = "RuntimeError: Caught RuntimeError in DataLoader worker process 0. Failed to open the input a.wav"
    assert "DL" not in said(text, capsys).replace("--explain", "")
    assert "Rules about it:" in said("what does pin_memory do", capsys)
    assert "Rules that can find the cause" in said("first batch slow", capsys)


def test_where_nothing_fits_the_advice_suits_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "zebra crossing"]) == 2
    assert "whole" not in capsys.readouterr().err
    assert main(["--explain", "KeyError: 3"]) == 2
    assert "try the whole traceback" in capsys.readouterr().err


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
    texts = [text for several in known.values() for text in several] + [text for text, _ in ANSWERED]
    texts += [*ELSEWHERE, *SUGGESTED, *NAMED, *ALONE, *(f"conv {text}" for text in ALONE)]
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
