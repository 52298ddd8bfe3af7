"""Runs tests, functions that fail by an exception, and prints what became of each (TAP)."""

import traceback


def run(tests):
    """The exit status: 1 if one failed."""
    failed = False
    print(f'1..{len(tests)}', flush=True)
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception:
            failed = True
            print(f'not ok {number} - {test.__name__}')
            print('# ' + traceback.format_exc().replace('\n', '\n# '), flush=True)
    return failed
