"""Limits of the work on one file: beyond them an answer is "unknown", and rules say nothing.

Each says what it counts and what happens beyond it; where it names nothing else, what lies beyond is not followed. A
number rests on a measurement only where its comment says so: the others were chosen by hand.
"""

from __future__ import annotations

from typing import Final

# Work on one file.

# CPU seconds that one file may take; beyond, DL000. Real files take one or two, the largest of torch some ten.
SECONDS_PER_FILE: Final = 20

# Of these, how many are kept to say where the findings are that the rules have come to; the others are for the rules.
SECONDS_TO_REPORT: Final = 4

# The part of what is left of them that one rule may take, so that those after it get some as well.
SHARE_OF_RULE: Final = 0.75

# CPU seconds for the fixes of the findings of one file; beyond, they are shown without.
SECONDS_FOR_FIXES: Final = 10

# Questions that working out one expression may lead to; beyond, its value is unknown. Keeps the cost of a question in
# proportion.
EVALUATION_STEPS: Final = 2_500

# Questions after which even a provisional answer is cached: recomputing it would take as many again.
EVALUATION_STEPS_KEPT: Final = 1_500

# Questions within each other, such as calls in calls; beyond, unknown. Python's stack has room for them.
EVALUATION_NESTING: Final = 90

# Questions about keys of dicts within each other; beyond, unknown. Each level takes more of Python's stack than
# others do.
KEY_NESTING: Final = 45

# Questions for one statement when it is looked for what starts workers at import.
START_STEPS_OF_STATEMENT: Final = 1_500

# Questions for all statements of a file in that search.
START_STEPS: Final = 10_000

# Causes of one value, and questions for the loops of one file, when loops over epochs are looked for.
EPOCH_STEPS: Final = 1_000

# Expressions that may decide on a value, when it is asked whether an option does; beyond, none does.
OPTION_CAUSES: Final = 200

# Expressions and names: how many steps they are followed.

# Bindings of a dict and stores under one key that may decide what the key holds; beyond, unknown.
DICT_CHANGES: Final = 50

# Calls within each other whose results are worked out; beyond, unknown.
CALL_DEPTH: Final = 4

# Parts of parts of an unknown object (`a.b[0].c`); beyond, unknown. Loops would make the chain longer and longer.
PART_CHAIN: Final = 4

# Values that a list, tuple or set holds, with those in the lists that it holds; beyond, its elements are not written
# out. Tables in code have some hundreds.
VALUES_HELD: Final = 2_000

# Bits of an integer that is worked out; beyond, unknown. No number of workers, samples or bytes has more than 64.
INTEGER_BITS: Final = 256

# Characters of a text whose methods are worked out; beyond, unknown. `text.replace("a", "aa")` doubles it each time.
TEXT_LENGTH: Final = 2_000

# Values within each other when the size of a container is estimated.
FORM_DEPTH: Final = 6

# Names that mean the same when a test for 0 is looked for.
ZERO_DEPTH: Final = 3

# Operands within each other in such a condition.
ZERO_NESTING: Final = 50

# Values within each other when it is asked where a loader's arguments come from.
LOADER_SOURCE_DEPTH: Final = 4

# Names and conditional expressions that an argument is followed through.
ALTERNATIVE_DEPTH: Final = 4

# Steps from an argument to the option that sets it.
SETTABLE_DEPTH: Final = 8

# Functions around a loader that are looked at for a loop over epochs.
RESTART_DEPTH: Final = 2

# Calls and dicts between a loader and the place where its argument is written.
ARGUMENT_SITE_DEPTH: Final = 6

# Places at which one argument may be written.
ARGUMENT_SITES: Final = 100

# Expressions, each part of or given by the next one, that the sample index is followed through.
INDEX_NESTING: Final = 100

# Names, parameters and subscripts between an addition and its container.
OUTLIVING_DEPTH: Final = 5

# Names that the seed of a generator is followed through.
INGREDIENT_DEPTH: Final = 8

# Samplers around a DistributedSampler.
SAMPLER_WRAPPERS: Final = 3

# Calls within each other when a worker's seeding is looked for.
SEEDING_DEPTH: Final = 3

# Objects within each other when an IterableDataset's sharding is looked for.
SHARDING_DEPTH: Final = 4

# Names that an attribute is followed through to another one.
ALIAS_DEPTH: Final = 4

# Pipelines of augmentations within each other.
PIPELINE_DEPTH: Final = 3

# Names that the key which a container is asked for is followed through.
KEY_DEPTH: Final = 4

# Names and parts that a sample which worker code changes is followed through.
STORED_ALIAS_DEPTH: Final = 6

# Expressions within each other when an array's origin is looked for.
ARRAY_DEPTH: Final = 6

# Names that a list is followed through to where it is made.
KEPT_DEPTH: Final = 6

# Names that a position sampled at random is followed through.
PICKED_DEPTH: Final = 4

# Names that a device is followed through.
DEVICE_DEPTH: Final = 4

# Names and calls between a move and where the memory comes from: `torch.from_numpy(frame).float().to(...)` takes five.
HOST_DEPTH: Final = 8

# Names that a tensor is followed through to a buffer.
REFILL_DEPTH: Final = 3

# Datasets around a Dataset whose samples are tensors.
TENSOR_DEPTH: Final = 3

# Names, calls and parts that the type of a tensor's elements is followed through.
DTYPE_DEPTH: Final = 12

# Names that a tensor is followed through to a view in another order; beyond, it may be one.
CAST_DEPTH: Final = 3

# Containers within each other in a sample, when what cannot be pickled is looked for.
SAMPLE_DEPTH: Final = 4

# Calls within each other that run at import and may start workers.
START_DEPTH: Final = 6

# Calls within each other between a loop over epochs and a loop over a loader.
EPOCH_DEPTH: Final = 3

# Objects within each other that keep a Dataset.
UNREAD_DEPTH: Final = 4

# Functions, classes and objects.

# Classes that one derives from; with more, the class is not known as a whole, and attributes of the rest are unknown.
# What is asked of each is asked of all that derive from it: 200 mixins take 1.3 s, 400 take 5 s.
BASE_CLASSES: Final = 200

# Calls of one function that are followed.
CALLERS: Final = 24

# Calls within each other in which callers are looked for.
CALLER_DEPTH: Final = 3

# Callers of callers that are asked whether they expect an error.
EXPECTED_ERROR_DEPTH: Final = 3

# Functions of one Dataset that are looked through for reads.
READING_FUNCTIONS: Final = 60

# Methods that call each other in `__getitem__`, when it is asked how they use the index.
WORKER_BODY_DEPTH: Final = 3

# Methods that one call runs, when changes of a Dataset are looked for.
CHANGING_METHODS: Final = 12

# Calls within each other from a loop over epochs to a function that changes a Dataset.
CHANGE_DEPTH: Final = 1

# Functions that are looked through for sharding, or for random numbers.
SHARDING_FUNCTIONS: Final = 12

# Objects within each other that a Dataset keeps.
OBJECT_HOPS: Final = 12

# Objects and expressions that one Dataset keeps.
OBJECTS_KEPT: Final = 600

# Functions that making one object runs.
CONSTRUCTION_STEPS: Final = 40

# Functions that the workers of one module run; beyond, findings in the rest are missing.
WORKER_FUNCTIONS: Final = 200

# Ways to call one function of worker code that are distinguished.
WORKER_FRAMES: Final = 2

# Calls in these functions that are followed. Steps of evaluation would not do: they depend on what is known already.
WORKER_CALLS: Final = 800

# Functions that a loader's argument is followed back through to their callers.
CALLER_HOPS: Final = 2

# Wrappers around a Dataset, such as Subset.
WRAPPER_DEPTH: Final = 3

# Methods that a Dataset of a library is followed back through: `load(path).map(f).filter(g)`.
CHAIN_STEPS: Final = 20

# Helpers whose result may be None, within each other.
NONE_DEPTH: Final = 3

# Functions that one parameter or container passes on, and calls of them.
PASSED_FUNCTIONS: Final = 8
PASSED_FUNCTION_CALLS: Final = 24

# Calls of a function under another name.
INDIRECT_CALLERS: Final = 24

# Functions outwards in which a loop is looked for.
LOOP_CALLERS: Final = 3

# Names of one container: one with more is a registry of the project, not filled by a constructor.
CONTAINER_NAMES: Final = 24

# Expressions that the value of an argument at 0 workers is followed through.
ZERO_ARGUMENT_DEPTH: Final = 6

# Callers and subclasses that make a loader, and the frames in which they do.
MADE_HOPS: Final = 3
MADE_FRAMES: Final = 24

# Other modules of a project.

# Bytes of a notebook, outputs among them, up to which it is read for that.
NOTEBOOK_LENGTH: Final = 5_000_000

# Modules in which calls of a function are looked for: so many show how it is called.
CALLING_MODULES: Final = 10

# Modules that are looked through on the way from one module to those that it imports.
IMPORTED_MODULES: Final = 300

# Expressions that a value is followed back through, in a module that assigns thousands; those beyond stand for
# themselves.
ORIGINS: Final = 300

# Aliases of aliases of a class or function: `make = choose(name)`, where `choose` returns an entry of a table.
ALIAS_CHAIN: Final = 3

# What decorators put into a table: more are too many to be followed where one of them is chosen.
REGISTERED: Final = 40

# Modules that are opened to see whether they choose a class by name.
CHOOSING_MODULES: Final = 3

# Modules that are opened to see how subclasses read an attribute.
SUBCLASS_MODULES: Final = 3

# Modules in which subclasses are looked for by name, to see which data sets a base class serves.
NAMED_SUBCLASS_MODULES: Final = 40

# Modules whose loaders may get the objects of a class.
LOADER_MODULES: Final = 40

# Modules that are opened because they may use a class or function.
USING_MODULES: Final = 60

# Imports of imports through which they may get it.
USING_LEVELS: Final = 3

# The same for a Dataset: from the file of a class over its subclasses and the packages that pass them on.
CARRYING_LEVELS: Final = 4

# Modules that a name or path with unknown parts may mean (`import_module(f"models.{name}")`); beyond, it is unknown.
MATCHING_MODULES: Final = 8

# Characters of a file of requirements; what is beyond them is not read.
REQUIREMENTS_LENGTH: Final = 1_000_000

# Modules around one that mention OpenCV: with more of them, each is reported for itself.
OPENCV_MODULES: Final = 80

# Modules around one that may evaluate with its loaders: with more of them, only those count that imports connect.
EVALUATING_MODULES: Final = 40

# Fixes.

# Functions of a file in which the places of all nodes are kept, as fixes come in the order of their places. Those of
# others are worked out once more; those of 2,000 functions took 18 MB.
EDITED_PARTS: Final = 25

# Arrays in arrays when it is asked whether a list can become one.
ARRAY_FIX_DEPTH: Final = 6
