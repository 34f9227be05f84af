"""What earlier runs found, kept on disk: a run over files that nothing has happened to parses none of them.

Whatever is wrong with the folder or a file in it only means that the work is done again.
"""
