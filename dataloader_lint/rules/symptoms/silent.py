"""What programs do that print no message."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

_NOT_OF_GPU = r"^(?!.*\b(?:gpu|cuda|vram)\b).*"
_LOW = r"up and down|drop|fluctu|oscillat|unstable|spik|poor|\blow|\b0 ?%|\bat 0\b|zero|idle|becomes? 0\b"
_TIME = r"^(?=.*\b(?:slow\w*|long\w*|wait\w*|paus\w*|delay\w*|tim(?:e|ing)|takes?|seconds|minutes|idle|costs?|speed)\b)"
_LOADING = r"data ?load\w*|loading (?:the )?(?:data|batch\w*)|data time"
# Waiting that ends by itself.
_NOW_AND_THEN = (
    r"\b(?:temporar\w+|periodic\w+|briefly)\b.{0,20}\b(?:hang|paus|stall|freez|stuck)"
    r"|\b(?:hang|paus|stall|freez|stuck)\w*\b.{0,30}\bevery (?:\w+ )?(?:steps?|iterations?|batch\w*)\b"
    r"|\b(?:hang|paus|stall|freez|stuck)\w*\b.{0,20}\bfor (?:\w+ )?\d+ ?(?:s|sec|seconds|min|minutes)\b"
)

SILENT = (
    seen(
        "It hangs without a message",
        """A worker waits for a lock that a thread of the main process held when the worker was forked, or a retry never
        ends. Measure: `py-spy dump --pid PID` for a worker. Then try `multiprocessing_context="spawn"`: if it runs,
        a fork is the cause.""",
        "DL209 DL501 DL205 DL616",
        words=(
            r"\b(?:hang|hangs|hanging|hung|stuck|freezes|frozen|deadlocks?|deadlocked|stagnates?|stagnated|stalled)\b",
            r"\b(?:refuses? to (?:yield|return)|stops? (?:running|responding)|does ?nt start|does not start)\b",
            r"\b(?:process|training|loop|loaders?|workers?)\b.{0,20}\bblock(?:s|ed)\b",
            r"\b(?:looks|seems) (?:to have )?stopped\b",
        ),
        # Metrics get stuck, layers are frozen, and what goes on after a while waits for data.
        unless=(
            r"\b(?:loss|accura\w+|scores?|reward|perplexity)\b.{0,30}\bstuck\b",
            r"\bstuck (?:at|in) (?:a )?local\b",
            r"\bfrozen (?:layers?|weights?|backbone|encoder|model|param\w+)\b",
            r"\b(?:layers?|weights?|backbone|encoder|param\w+)\b.{0,20}\bfrozen\b",
            _NOW_AND_THEN,
        ),
    ),
    seen(
        "The first batch of each epoch is slow",
        "The workers are restarted for each epoch.",
        "DL309 DL308 DL206",
        words=(
            rf"{_TIME}.*(?:first|1st) (?:batch|iter\w*|step).{{0,40}}\bepoch",
            rf"{_TIME}.*(?:start|beginning) of (?:each|every|an|the) epoch",
            rf"{_TIME}.*(?:each|every) epoch (?:start|begin)",
            rf"{_TIME}.*between (?:the )?epochs",
        ),
    ),
    seen(
        "GPU use goes up and down, or stays low",
        """The GPU waits for batches. Measure the share of an iteration that passes before the batch is there, and an
        epoch with 0, 2, 4 and 8 workers. If only the first batches of each epoch are slow, workers are restarted.""",
        "DL306 DL605 DL309 DL401 DL606 DL614",
        words=(
            rf"gpu(?![ -]?(?:memory|mem|ram)\b).{{0,40}}(?:util|usage|use|load).{{0,60}}(?:{_LOW})",
            rf"(?:{_LOW})\w* (?:volatile )?gpu[ -]?(?:util|usage|use|load)",
            r"gpu.{0,30}(?:idle|starv|wait|under-?utili[sz]ed)",
            r"\bslow\w*\b.{0,40}\bworkers\b|\b(?:workers|num_workers)\b.{0,40}\bslow",
            rf"(?:{_LOADING}).{{0,60}}\b(?:slow|bottleneck|unstable|blocking|takes? (?:a|too|so|very) long)\b",
            rf"\bwaits?\b.{{0,30}}(?:{_LOADING})",
            _NOW_AND_THEN,
        ),
        unless=(r"out of memory", r"\b(?:federat|converge)"),
    ),
    seen(
        "Memory grows",
        """Within an epoch: forked workers copy the pages of Python objects that they read. From epoch to epoch: a
        cache, or batches that are kept. Measure `Pss` in `/proc/PID/smaps_rollup` of each process, not RSS, which
        counts shared pages several times.""",
        "DL101 DL102 DL104 DL611 DL103",
        words=(
            rf"{_NOT_OF_GPU}\b(?:memory|mem|ram)\b.{{0,60}}(?:grow|increas|leak|keeps|climb|ris(?:es|ing))",
            rf"{_NOT_OF_GPU}\b(?:memory|mem|ram)\b.{{0,60}}(?:explod|used up)",
            rf"{_NOT_OF_GPU}(?:grows|growing|increases|increasing|eats|eating)\b.{{0,20}}\b(?:memory|ram)\b",
            rf"{_NOT_OF_GPU}\buses? .{{0,12}}(?:more|too much|all) .{{0,12}}\b(?:memory|ram)\b",
            rf"{_NOT_OF_GPU}\bmore and more (?:memory|ram)\b",
            rf"{_NOT_OF_GPU}(?:memory leak|memory loss|out of (?:cpu memory|ram)\b)",
        ),
    ),
    seen(
        "Workers draw the same random numbers",
        "A generator that was made before the workers start is in the same state in each of them.",
        "DL602 DL603",
        words=(
            r"\bsame (?:random(?! (?:seed|state)\b)|augment|crop|transforms|numbers|shuffl)",
            r"\bsame (?:\w+ )?order\b.{0,30}\bepoch|\bepoch.{0,40}\bsame (?:\w+ )?order\b",
            r"\bidentical (?:random|augment|crop)",
            r"\b(?:augment|crop|shuffl|random)\w*.{0,40}\b(?:in the same way|identical)",
        ),
        unless=(r"\b(?:weights?|layers?|initiali[sz]\w+)\b",),
    ),
    seen(
        "Samples come twice",
        "Each worker, or each process, iterates over all of an iterable Dataset.",
        "DL601 DL603",
        words=(
            r"duplicate(?:d|s)? (?:sample|data|batch|item)",
            r"(?:sample|data|batch|item)s? (?:.{0,30}(?:twice|repeated)|duplicat)",
            r"\b(?:once|one copy) (?:per|for each|by each) (?:worker|process|rank|gpu)",
        ),
    ),
)
