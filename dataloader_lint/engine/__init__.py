"""From paths to diagnostics: `linter` is one file, `fixer` its fixes, `run` and `runner` many files."""
