"""traces/capture/task_text.py, with words for tokens."""

import re
import sys

sys.path[:0] = ['traces/capture']
import task_text

CONTEXT = 2000
PARTS = [' '.join(f'w{part}_{word}' for word in range(40)) for part in range(200)]


def count(text):
    return len(text.split())


checks = []


def check(name, holds):
    checks.append(holds)
    print(f'{"" if holds else "not "}ok {len(checks)} - {name}')


texts = {kind: task_text.fit(count, kind, PARTS, CONTEXT) for kind in ('text', 'needle', 'needles', 'outline')}
for kind, (before, answer) in texts.items():
    check(f'{kind}: what is asked ends with the context', CONTEXT - 1 <= count(before) <= CONTEXT)
    check(f'{kind}: there is an answer', count(answer) > 80)
    check(f'{kind}: the same text again', texts[kind] == task_text.fit(count, kind, PARTS, CONTEXT))

before, answer = texts['needle']
check('the note stands a quarter into the text', .2 < before.index(task_text.NOTE) / len(before) < .3)
check('the note is the answer', answer == task_text.NOTE)

before, answer = texts['needles']
facts, asked = (re.findall(r'The access code of the archive in (\w+) is (\d{5})\.', text) for text in (before, answer))
check('twelve facts, twelve codes', len(set(facts)) == 12 and len({code for _, code in facts}) == 12)
check('the answer has the same facts in another order', sorted(facts) == sorted(asked) and facts != asked)
check('the last fact is no later than three quarters', before.rindex('The access code of') < .8 * len(before))

before, answer = texts['outline']
firsts = re.findall(r'w(\d+)_0', answer)
check('the outline names paragraphs in order', firsts == sorted(firsts, key=int) and len(firsts) > 10)
print(f'1..{len(checks)}')
sys.exit(not all(checks))
