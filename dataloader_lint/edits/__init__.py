"""What a repair is made of: helpers that turn LibCST nodes into edits of the text.

A rule that can fix its findings passes a function with each of them, which is called only when a fix is asked for:

    def check(loader: Loader) -> Iterator[Finding]:
        ...
        yield Finding(loader.node, problem, advice, partial(fix, loader))

    def fix(loader: Loader, editor: Editor) -> Repair | None:
        from dataloader_lint.edits import Repair, remove_argument  # not at the top: listing rules imports no LibCST

        arg = loader.argument("persistent_workers")
        if arg is None:
            return None
        edit = remove_argument(editor, loader.call, arg)
        return Repair(Safety.SAFE, "Remove `persistent_workers`", (edit,))

The helpers take the `editor` first and return an `Edit`. They know commas, comments, semicolons and one-line suites,
and raise `RefusedError` when they are not sure: the engine catches it, and the finding stays without a repair.

    replace(editor, expression, "code")                   # with its parentheses; a comment in it is never lost
    remove_argument(editor, call, arg)                    # with its comma, in any layout
    add_argument(editor, call, "non_blocking=True")       # at the end, in the layout of the others
    pass_flag(editor, call, "flag=True")                  # breaks a line that would be the file's longest
    remove_element(editor, display, element)              # of a dict, list or set
    remove_option(editor, loader, "timeout", is_like)     # in the call, or in the keyword dict behind `**`
    follow_workers(editor, loader, "timeout", is_like, rewrite)
    insert_before(editor, node, "code")                   # a statement before the one that holds the node
    insert_after(editor, node, "code")
    remove_statement(editor, node)
    add_function(editor, use, "def f():...")              # at module level, before the statement that holds `use`
    need_import(editor, use, "functools", "partial")      # .name is how to write it there, .edits what it takes
    need_import(editor, use, "numpy", alias="np")         # `np`, or what the file calls it
    need_import(editor, use, "numpy", "array", alias="np")  # prefers what is imported: `np.array`, `array`
    drop_import(editor, "cycle", nodes)                    # if nothing but these nodes uses it
    hoist_lambda(editor, lambda_node, "collate_fn")       # its new name, and the edits
    direct_callee(editor, lambda_node, signature)         # `pad` for `lambda rows: pad(rows)`, or None
    lift_function(editor, def_node)                       # likewise, with all uses of the local name
    to_array(editor, dataset, binding)                    # a list of strings or numbers as a numpy array
    guard_work(editor, statement, is_imported)            # all that a script does, and from which line on
    editor.code(node), editor.start(node), editor.end(node), editor.new_name("collate_rows")
    Edit(start, end, "content")                           # by hand, where no helper fits; offsets are in editor.text

The engine (`fixer.py`) applies all edits of a repair or none, equal edits of several repairs once, and keeps the result
only if it holds: nothing here needs to check that. Other lines may get longer than
the project wants them: its formatter knows how to split them.
"""

from __future__ import annotations

from dataloader_lint.edits.arguments import add_argument, remove_argument, remove_element
from dataloader_lint.edits.array_uses import check_elements, refuse_own_collation, refuse_uses_elsewhere
from dataloader_lint.edits.definitions import add_parameter, guard_statement
from dataloader_lint.edits.direct import direct_callee
from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.functions import add_function
from dataloader_lint.edits.guard import guard_work
from dataloader_lint.edits.hoist import hoist_lambda
from dataloader_lint.edits.imports import Imported, drop_import, need_import
from dataloader_lint.edits.lift import lift_function
from dataloader_lint.edits.options import follow_workers, is_passed_in, remove_option
from dataloader_lint.edits.repair import Edit, RefusedError, Repair, splice
from dataloader_lint.edits.statements import insert_after, insert_before, remove_statement
from dataloader_lint.edits.to_array import to_array
from dataloader_lint.edits.width import pass_flag

__all__ = [
    "Edit",
    "Editor",
    "Imported",
    "RefusedError",
    "Repair",
    "add_argument",
    "add_function",
    "add_parameter",
    "check_elements",
    "direct_callee",
    "drop_import",
    "follow_workers",
    "guard_statement",
    "guard_work",
    "hoist_lambda",
    "insert_after",
    "insert_before",
    "is_passed_in",
    "lift_function",
    "need_import",
    "pass_flag",
    "refuse_own_collation",
    "refuse_uses_elsewhere",
    "remove_argument",
    "remove_element",
    "remove_option",
    "remove_statement",
    "replace",
    "splice",
    "to_array",
]
