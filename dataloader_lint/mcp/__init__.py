"""`dataloader-lint mcp`: the linter as tools for coding assistants, over the Model Context Protocol."""
