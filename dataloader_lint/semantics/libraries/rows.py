"""What one call of a library does: the columns of the tables in `models/`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A row: what a call of one function or class does, as far as any rule asks. What is left out does not hold."""

    # The kind of the result: `str`, `int`, `float`, `bool`, `path`, `tensor`, `array`, `image`, `list`, `dict`, `set`,
    # `file`, `iterator` (lazy, cannot be pickled), `rng`, `settings` (filled by the program), `json` (parsed), `config`
    # (whatever a file of settings holds), or `object` (whatever another file holds).
    gives: str = ""
    positive: bool = False  # the integer is at least 1
    cpus: str = ""  # the CPUs that a program may use: their `number`, or a `set`
    dtype: str = ""  # the data type of the tensor, unless an argument says otherwise
    elements: str = ""  # the kind of the elements: `str`
    may_be_none: bool = False  # gives None where it fails
    from_elements: bool = False  # builds a tensor or array from the elements of its argument
    joins: bool = False  # joins tensors to one
    on_default_device: bool = False  # makes a tensor on the default device, or on that of the `with` block around it

    builds: str = ""  # an object that takes long to make and is meant to be kept, in words for users

    # What becomes of the arguments.
    gives_argument: bool = False  # the result is the argument, or a copy of it
    yields_argument: bool = False  # yields the batches of its first argument unchanged
    iterates: str = ""  # iterates over its arguments: `now`, or `lazily` when it is iterated over itself
    lists_argument: int = 0  # the position of the argument whose elements it gives
    stores_arguments: bool = False  # the result keeps the arguments, though its name is lowercase
    as_random_as_arguments: bool = False  # the result changes between runs, workers and samples as the arguments do
    copies_to_cpu: bool = False  # reads the numbers of a tensor

    # Files and other things outside of the process.
    opens: str = ""  # what it opens that belongs to one process, in words for users
    archive: str = ""  # the ending of the files that it opens: others it reads at once, or no process owns
    shared: str = ""  # what goes wrong in forked workers: `offset`, `position`, `archive`, `HDF5`, ...
    maps_file: bool = False  # opens a file lazily, so that a cache of these by path is bounded by the files
    pickles: bool = False  # what it opens can be pickled: it is opened again where it arrives
    arrives_broken: bool = False  # what it opens can be pickled, and not be read where it arrives
    forked: str = ""  # how it fails in a forked process: by its event `loop`, or a `pool` of threads that never answers
    wraps_handle: bool = False  # the result belongs to the process as much as the argument does
    reads: tuple[str, ...] = ()  # all of a `path`, a `file`, its `rows` or a `text`; the headers of an `archive`
    loads_array: str = ""  # gives an array of a `file`, or of a `memmap`
    lists_files: str = ""  # in an order that no one sorted: of a `pattern`, or of a `folder`
    streams: str = ""  # for a loop: `source` of data, the `argument` itself, or `endless`

    # Processes and random numbers.
    starts: str = ""  # `process`, or a `context` that has Pool, Process and Manager of its own
    spawns: bool = False  # starts processes that are spawned, not forked
    sets_start_method: bool = False
    seeds: str = ""  # seeds the `global` generator, or one of its `own`
    hides_name: bool = False  # pickle cannot find the function by its name
    memoises: bool = False  # decorates a function whose results it keeps
    runs_command_line: bool = False  # runs a function with arguments from the command line

    @property
    def is_handle(self) -> bool:
        """True if the result surely is something open that belongs to one process."""
        return bool(self.opens) and not self.archive and not self.pickles
