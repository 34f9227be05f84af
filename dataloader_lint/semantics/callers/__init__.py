"""Who calls a function, and with which arguments. One entry: `Evaluator.callers(function)`, which asks `calls_of`.

| File | Calls |
|---|---|
| `callers` | by name, in the module and in those that import it; it asks the four files below |
| `indirect_callers` | of a decorated function, by `map` |
| `chosen_callees` | by another name: an alias, an entry of a table, `getattr`, `globals()` |
| `passed_functions` | of a function that is passed as a value: through a parameter, an attribute, a loop variable |
| `deferred_calls` | later, by a library: `Process(target=work, args=...)`, `pool.submit(work, options)` |

`parameters` gives the values of a parameter from these calls, `run_arguments` the functions that get an argument.
"""
