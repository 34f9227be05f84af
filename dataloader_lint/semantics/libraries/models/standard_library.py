"""Python's standard library, other than paths, files, processes and threads."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "collections.Counter": Call(gives="dict"),
    "collections.OrderedDict": Call(gives="dict"),
    "collections.OrderedDict.fromkeys": Call(gives="dict"),
    "collections.defaultdict": Call(gives="dict", stores_arguments=True),
    "collections.deque": Call(iterates="now"),
    "copy.copy": Call(gives_argument=True),
    "copy.deepcopy": Call(gives_argument=True),
    "functools.cache": Call(memoises=True),
    "functools.lru_cache": Call(memoises=True),
    "heapq.nlargest": Call(gives="list", lists_argument=1),
    "heapq.nsmallest": Call(gives="list", lists_argument=1),
    "itertools.accumulate": Call(iterates="now"),
    "itertools.chain": Call(iterates="lazily", streams="argument"),
    "itertools.chain.from_iterable": Call(iterates="lazily", streams="argument"),
    "itertools.count": Call(streams="endless"),
    "itertools.cycle": Call(yields_argument=True, iterates="now", streams="endless"),
    "itertools.dropwhile": Call(iterates="now"),
    "itertools.islice": Call(yields_argument=True, iterates="now", streams="argument"),
    "itertools.product": Call(streams="argument"),
    "itertools.repeat": Call(streams="endless"),
    "itertools.takewhile": Call(yields_argument=True, iterates="now"),
    "itertools.tee": Call(iterates="now"),
    "random.Random": Call(gives="rng", seeds="own"),
    "random.choices": Call(gives="list"),
    "random.sample": Call(gives="list"),
    "random.seed": Call(seeds="global"),
    "re.findall": Call(gives="list"),
    "re.split": Call(gives="list"),
    "shlex.split": Call(gives="list"),
    "typing.cast": Call(gives_argument=True),
    "zlib.crc32": Call(as_random_as_arguments=True),
}
