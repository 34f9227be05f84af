"""What earlier runs found, cached on disk: a run over unchanged files parses none of them.

Whatever is wrong with the folder or a file in it only means that the work is done again.
"""
