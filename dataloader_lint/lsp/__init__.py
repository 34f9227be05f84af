"""The language server behind `dataloader-lint lsp`: what editors talk to, over linter and fixer."""
