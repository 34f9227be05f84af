"""What expressions can be at run time; `values` has the words for it, `evaluate` the evaluator."""
