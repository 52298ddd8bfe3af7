#!/usr/bin/env python3
"""Writes a text that asks about something far back, for capture.py: the question ends where the prefix does, and the
answer is what a good reader would say.

  text      the text goes on, as in the other recordings
  needle    a note of some 110 tokens stands a quarter into the text, and is to be quoted
  needles   twelve facts stand in the first three quarters of the text, and are asked for in another order
  outline   the first words of each paragraph, in order: what a summary goes back for

usage: task_text.py --model MODEL.gguf --kind KIND --context N --text TEXT [--offset BYTES] >OUT
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

NOTE = ('Note to the keeper of the harbour. On the ninth of March the grain ships come in from the south, eleven of '
        'them, and the largest carries glass under a grey sail. Let the pilot Amadou meet her behind the second '
        'buoy, not before four in the morning, and pay him in salt. The customs book lies in the blue chest; its key '
        'hangs behind the map of Crete. If the wind turns north, close the chain, light both lamps, and send the boy '
        'to Marguerite, who knows what to do with the horses. Burn this.')
CITIES = ('Lisbon', 'Tromso', 'Nairobi', 'Quito', 'Osaka', 'Cardiff', 'Bergen', 'Havana', 'Tunis', 'Lublin', 'Perth',
          'Ghent')


def paragraphs(text):
    return [part for part in text.split('\n\n') if part.strip()]


def insert(parts, pieces, last):
    """Puts `pieces` between the paragraphs of the first share `last`, at equal distances."""
    out = list(parts)
    for number in reversed(range(len(pieces))):
        out.insert(round(len(parts) * last * (number + 1) / len(pieces)), pieces[number])
    return out


def code(city):
    """Five digits that nobody could guess, the same every time."""
    value = 7
    for letter in city.encode():
        value = (value * 131 + letter) % 90001
    return 10000 + value % 90000


def make(kind, parts, more):
    """What stands before the answer, and the answer."""
    text = '\n\n'.join
    if kind == 'text':
        return text(parts) + '\n\n', text(more)
    if kind == 'needle':
        return text(insert(parts, [NOTE], .25)) + '\n\nQuestion: what does the note to the keeper say?\nAnswer: ', NOTE
    if kind == 'needles':
        facts = [f'The access code of the archive in {city} is {code(city)}.' for city in CITIES]
        order = [(5 * i + 3) % len(facts) for i in range(len(facts))]
        return (text(insert(parts, facts, .75)) + '\n\nQuestion: what are the access codes of the archives?\nAnswer: ',
                ' '.join(facts[i] for i in order))
    firsts = [' '.join(part.split()[:9]) for part in parts if len(part.split()) > 20]
    return text(parts) + '\n\nQuestion: how does each paragraph begin, in order?\nAnswer: ', ' ... '.join(firsts)


def fit(count, kind, parts, context):
    """The text with as many paragraphs as leave the question inside `context` tokens. What is missing is made up with
    single words of the next paragraph, put in front."""
    least, most = 1, len(parts) - 40
    while least < most:
        middle = (least + most + 1) // 2
        before, _ = make(kind, parts[:middle], parts[middle:])
        least, most = (middle, most) if count(before) <= context else (least, middle - 1)
    words, taken = parts[least].split(), 0
    while taken < len(words):
        before, _ = make(kind, [' '.join(words[-taken - 1:])] + parts[:least], parts[least + 1:])
        if count(before) > context:
            break
        taken += 1
    begin = [' '.join(words[-taken:])] if taken else []
    return make(kind, begin + parts[:least], parts[least + 1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', required=True)
    parser.add_argument('--kind', required=True, choices=('text', 'needle', 'needles', 'outline'))
    parser.add_argument('--context', type=int, required=True)
    parser.add_argument('--text', required=True)
    parser.add_argument('--offset', type=int, default=0)
    options = parser.parse_args()
    from gguf_model import Model
    from recorder import read_text

    model = Model(options.model)
    parts = paragraphs(read_text(options.text, options.offset)[:12 * options.context].decode(errors='replace'))
    before, answer = fit(lambda text: len(model.tokenize(text.encode(), options.context)), options.kind, parts,
                         options.context)
    model.close()
    sys.stdout.write(before + answer + '\n')


if __name__ == '__main__':
    main()
