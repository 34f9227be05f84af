"""Text in, text out: which files there are, how their bytes become text, and what their `# noqa` comments say."""
