"""The scripts of traces/convert: rows worked out by hand, as the program reads them back, and faults.

    converters.py PROGRAM SCRATCH_FOLDER      prints TAP

The responses have the shape in which SGLang sends them: managers/tokenizer_manager.py and
state_capturer/indexer_topk.py of sgl-project/sglang at 0564b52.
"""

import base64
import io
import json
import os
import struct
import subprocess
import sys

import tap

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'traces')
CONVERT = os.path.join(TRACES, 'convert')
sys.path.insert(0, TRACES)
import swt

PROGRAM, SCRATCH = sys.argv[1:]


def path(name):
    return os.path.join(SCRATCH, name)


def run(script, data, *options, name='in'):
    """Exit status and both outputs."""
    with open(path(name), 'wb') as file:
        file.write(data)
    done = subprocess.run([sys.executable, '-B', os.path.join(CONVERT, script), path(name), *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def text_of(trace):
    """The lines of a trace, which the program reads, too."""
    subprocess.run([PROGRAM, 'trace', 'verify', path(trace)], stdout=subprocess.DEVNULL, check=True)
    with swt.Reader(path(trace)) as reader, io.StringIO() as out:
        swt.export_csv(reader, out)
        return out.getvalue().splitlines()


def assert_rows(trace, facts, rows):
    """`rows`: layer, born, and a dict from units to masses, in the order of steps; of head 0 alone."""
    lines = text_of(trace)
    assert facts in ' '.join(lines[:2]), lines[:2]
    wanted, steps = [], {}
    for layer, born, units in rows:
        place = f'{steps.setdefault(layer, 0)},{layer},0'
        steps[layer] += 1
        wanted += [f'0,{place},born,{born}', f'0,{place},tail,{0 if units or born else 1}']
        wanted += [f'0,{place},{unit},{mass}' for unit, mass in units.items()]
    assert lines[3:] == wanted, (lines[3:], wanted)


def assert_refused(script, data, fault, *options):
    status, said = run(script, data, '-o', path('none-' + script), *options)
    assert status == 1 and fault in said and 'Traceback' not in said, said
    assert not os.path.exists(path('none-' + script)) or os.listdir(path('none-' + script)) == [], said


# ---- arrays --------------------------------------------------------------------------------------

INDICES = (3, 0, -1, -1, 4, 1, 9, 1, 2, -1, -1, -1)


def array(items=INDICES, kind='<i4', shape=(2, 2, 3), version=1, order=False):
    header = repr({'descr': kind, 'fortran_order': order, 'shape': shape}).encode()
    length = struct.pack('<H' if version == 1 else '<I', len(header))
    letter = {'4': 'i', '8': 'q'}[kind[-1]] if isinstance(kind, str) else 'i'
    return (b'\x93NUMPY' + bytes((version, 0)) + length + header +
            struct.pack(f'<{len(items)}{letter}', *items))


def an_array_is_a_trace():
    rows = [(0, 0, {0: 0.5, 3: 0.5}), (1, 0, {1: 0.5, 4: 0.5}),
            (0, 0, {1: 0.3299, 2: 0.3299, 9: 0.3299}), (1, 0, {})]
    for version in 1, 2:
        for kind in '<i4', '<i8', '<u4', '<u8':
            assert run('npy.py', array(kind=kind, version=version), '-o', path('a.swt')) == (0, '')
            assert_rows('a.swt', 'layers=2 kv_heads=1 query_heads=1 head_dim=1 context=10 unit_kind=0 '
                        'unit_tokens=1 units=10 sinks=0 recent=0 keep=3 sequences=1 steps=2', rows)


def ranks_and_tokens_born_share_the_mass():
    """1 : 1/2 : 1/3 makes 6/11, 3/11, 2/11; codes are steps of 7 %: .5359 = 2^-.9, .2679 = 2^-1.9."""
    status, _ = run('npy.py', array((5, 0, 9), shape=(1, 1, 3)), '-o', path('a.swt'), '--mass', 'rank',
                    '--context', '8', '--share', '2')
    assert status == 0
    row = {0: 0.2679, 5: 0.5359}
    assert_rows('a.swt', 'layers=2 kv_heads=1 query_heads=1 head_dim=1 context=8 unit_kind=0 '
                'unit_tokens=1 units=8', [(0, 0.181818187, row), (1, 0.181818187, row)])


def wrong_arrays_are_refused():
    for data, fault in (
            (array(INDICES[:11]), '44 bytes of items\n  expected: 48'),
            (array(shape=(2, 2, 2)), '48 bytes of items\n  expected: 32'),
            (array(shape=(12,)), 'the shape is (12,)'), (array(shape=()), 'the shape is ()'),
            (array((), shape=(2, 0, 3)), 'the shape is (2, 0, 3)'),
            (array(kind='>i4'), 'items of >i4'), (array(kind=[('a', '<i4')]), "items of [('a'"),
            (array(order=True), 'in Fortran order'), (array(version=3), 'version 1 or 2'),
            (array()[:40], 'not the header'), (b'NUMPY not at all', 'not a numpy array'), (b'', 'empty'),
            (array((1,) * 2050, shape=(1, 1025, 2)), 'wants unit 1 twice'),
            (array(range(1025), shape=(1, 1025, 1)), 'layers is 1025'),
            (array((1, 2, 3, -7) + INDICES[4:]), 'token 0, layer 1: index -7'),
            (array((1, 2, 1 << 40) + INDICES[3:], '<i8'), 'token 0, layer 0: index 1099511627776')):
        assert_refused('npy.py', data, fault)


# ---- responses of SGLang -------------------------------------------------------------------------

# Prompt 0 1 2, answer 3 4 and one more, which was never an input: five rows of two layers. Layer 1
# reuses layer 0's indices in the last row.
TOPK = (0, -1, 0, -1, 1, 0, 0, 1, 2, 0, 1, 2, 0, 2, 3, 1, 4, 1, 4, 1)
ROWS = [(0, 0, {0: 0.5, 2: 0.5}), (1, 0.5, {1: 0.5}), (0, 0.5, {1: 0.5}), (1, 0.5, {1: 0.5})]
LAST = [(0, 0.5, {1: 0.5}), (1, 0.5, {1: 0.5})]


def encode(items):
    return base64.b64encode(struct.pack(f'<{len(items)}i', *items)).decode()


def answer(prompt=3, completion=3, items=TOPK, **more):
    return {'text': ' "indexer_topk": "', 'meta_info': {
        'id': '5f', 'prompt_tokens': prompt, 'completion_tokens': completion,
        'indexer_topk': encode(items), **more}}


def lines(*objects):
    return '\n'.join(map(json.dumps, objects)).encode()


def convert(data, *options):
    status, said = run('sglang_indexer.py', data, '-o', path('out'), *options)
    assert status == 0, said
    return said


def generated_tokens_are_steps():
    convert(lines(answer()), '--layers', '2')
    assert_rows('out/request-0001.swt', 'layers=2 kv_heads=1 query_heads=1 head_dim=1 context=3 '
                'unit_kind=0 unit_tokens=1 units=3 sinks=0 recent=0 keep=2 sequences=1 steps=2',
                sorted(ROWS[:2]) + sorted(ROWS[2:]))


def the_context_may_end_elsewhere():
    convert(lines(answer()), '--layers', '2', '--context', '4')
    assert_rows('out/request-0001.swt', 'context=4 unit_kind=0 unit_tokens=1 units=4', LAST)
    assert_refused('sglang_indexer.py', lines(answer()), 'none of 1 responses has a step', '--layers',
                   '2', '--context', '5')


def units_of_four_tokens_are_counted_in_four():
    """8 tokens of prompt are units 0 and 1; token 8 begins unit 2."""
    items, options = [-1, -1, -1, 0, 0, 0, 0, 1, 0, 2], ('--layers', '1', '--unit-tokens', '4')
    convert(lines(answer(8, 3, items)), *options)
    assert_rows('out/request-0001.swt', 'context=8 unit_kind=0 unit_tokens=4 units=2',
                [(0, 0, {0: 1}), (0, 1, {})])
    items[8] = 3  # begins at token 12
    assert_refused('sglang_indexer.py', lines(answer(8, 3, items)),
                   'token 8, layer 0: index 3 is beyond this token', *options)


def several_answers_are_numbered():
    """The second answer has one token: no step. A response may state its layers."""
    stated = answer(indexer_topk_num_layers=2)
    text = (json.dumps([answer(), answer(5, 1)], indent=1) +
            json.dumps({'choices': [answer(4, 2), stated]}) + json.dumps(stated))
    said = convert(text.encode(), '--layers', '2')
    assert said == '4 traces; responses without a step: 1\n', said
    assert_rows('out/request-0003.swt', 'context=4', LAST)
    assert_rows('out/request-0005.swt', '"request": 5', ROWS)
    convert(lines(stated))
    assert_rows('out/request-0001.swt', 'context=3', ROWS)


def wrong_responses_are_refused():
    slots = [item + 64 if item >= 0 else -1 for item in TOPK]
    meta = {'prompt_tokens': 3, 'completion_tokens': 3}
    for data, fault in (
            (lines(answer(), answer(items=slots)), 'line 2: token 3, layer 0: index 64 is beyond'),
            (lines(answer(items=TOPK[:-1] + (-2,))), 'token 4, layer 1: index -2'),
            (lines(answer(items=TOPK[:-1] + (4,))), 'step 1, layer 1 wants unit 4 twice'),
            (lines(answer(completion=4)), '20 indices, which are not those of 6 tokens in 2'),
            (lines(answer(items=())), '0 indices'),
            (lines({'meta_info': meta}), "the response has no 'indexer_topk'"),
            (lines({'meta_info': {'indexer_topk': 'AAAA'}}), "'prompt_tokens' is missing"),
            (lines({'error': {'message': 'too long'}}), 'the server refused: too long'),
            (lines({'message': 'no'}), 'the server refused: no'),
            (lines({'text': ''}), "the response has no 'meta_info'"), (lines(3), "no 'meta_info'"),
            (lines(answer(indexer_topk_num_layers=3)), 'num_layers\' is 3'),
            (lines(answer()).replace(b'AA="', b'A*="'), 'is not base64'),
            (lines(answer())[:-9], 'not JSON'), (b'data: {}', 'not JSON'), (b'', 'an empty file')):
        assert_refused('sglang_indexer.py', data, fault, '--layers', '2')
    assert_refused('sglang_indexer.py', lines(answer()), '--layers N')


# ---- tables --------------------------------------------------------------------------------------


def columns_are_found_by_name():
    """The masses of a row that lists none are its tail."""
    data = (b'w,block,token,l,h,more\n.25,9,100,0,1,x\n0.5,"3",100,0,1,"a,b"\r\n1,4,100,0,0,\n'
            b'0.125,4,101,0,0,')
    assert run('table.py', data, '-o', path('a.swt'), '--columns',
               'step=token,unit=block,mass=w,layer=l,head=h') == (0, '')
    lines_of = text_of('a.swt')
    assert 'kv_heads=2' in lines_of[0] and 'units=10' in lines_of[0] and '"recorded"' in lines_of[1]
    assert lines_of[3:] == [
        '0,0,0,0,born,0', '0,0,0,0,tail,0', '0,0,0,0,4,1', '0,0,0,1,born,0', '0,0,0,1,tail,0.25',
        '0,0,0,1,3,0.5', '0,0,0,1,9,0.25', '0,1,0,0,born,0', '0,1,0,0,tail,0.875', '0,1,0,0,4,0.125',
        '0,1,0,1,born,0', '0,1,0,1,tail,1'], lines_of


def columns_are_found_by_number():
    assert run('table.py', b'a,3\nb,1\nc,2\n', '-o', path('a.swt'), '--columns', 'unit=2', '--per-step',
               '2') == (0, '')
    assert_rows('a.swt', 'keep=2 sequences=1 steps=2', [(0, 0, {1: 0.5, 3: 0.5}), (0, 0, {2: 1})])
    status, _ = run('table.py', b'5\n0\n9\n', '-o', path('a.swt'), '--columns', 'unit=1', '--mass',
                    'rank', '--context', '8', '--share', '2', '--per-step', '3')
    row = {0: 0.2679, 5: 0.5359}
    assert_rows('a.swt', 'layers=2', [(0, 0.181818187, row), (1, 0.181818187, row)])


def columns_that_are_not_read_are_said():
    status, said = run('table.py', b'step,layer,page\n0,0,5\n', '-o', path('a.swt'), '--columns',
                       'unit=page')
    assert (status, said) == (0, 'not in --columns, so not read: step, layer\n'), said


def steps_go_on_from_tile_to_tile():
    data = 'step,unit\n' + ''.join(f'{step},{step % 7}\n' for step in range(600))
    assert run('table.py', data.encode(), '-o', path('a.swt'), '--columns', 'step=step,unit=unit') == (0, '')
    assert_rows('a.swt', 'steps=600 steps_per_tile=256', [(0, 0, {step % 7: 1}) for step in range(600)])


def wrong_tables_are_refused():
    for columns, text, fault in (
            ('step=s,unit=u', 's,u\n0,1\n0\n', 'in:3: 1 fields'), ('step=s,unit=u', 's,u\n0,1\n\n', 'in:3: 0'),
            ('step=s,unit=u', 's,u\n0,x\n', "in:2: 'x'"), ('step=s,unit=u', 's,u\n-1,1\n', "in:2: '-1'"),
            ('step=s,unit=u', 's,u\n0,4294967295\n', "'4294967295'"),
            ('step=s,unit=u', 's,u\n3,1\n5,1\n', 'step 5 after step 3'),
            ('step=s,unit=u', 's,u\n3,1\n4,1\n3,1\n', 'step 3 after step 4'),
            ('step=s,unit=u', 's,u\n3,1\n3,2\n3,1\n', 'step 0, layer 0, head 0: wants unit 1 twice'),
            ('step=s,unit=u', 's,u\n0,"1\n', 'in:2'), ('step=s,unit=u', 's,u\n', 'an empty file'),
            ('step=s,unit=u', '', 'an empty file'), ('step=s,unit=u', 's,v\n0,1\n', "no column 'u'"),
            ('step=s,unit=u', 's;u\n0;1\n', 'columns between commas'),
            ('unit=1,layer=2', '1,1024\n1,0\n', 'layer 1, head 0 has no row'),
            ('unit=1,layer=2', '1\n', 'in:1: 1 fields'), ('unit=1,mass=2', '1,2\n', "'2' is not a mass"),
            ('unit=1,mass=2', '1,nan\n', "'nan' is not a mass"),
            ('unit=1,mass=2,step=3', '1,.9,0\n2,.9,0\n', 'masses add up to more than 1'),
            ('step=1', '1\n', 'no column for the unit'), ('unit=', '1\n', "'unit='"),
            ('units=1', '1\n', "'units=1'"), ('unit=1,unit=2', '1,2\n', "'unit=2'"),
            ('unit=1,layer=s', '1,2\n', 'mixes'), ('unit=0', '1\n', 'in:1: 1 fields'),
            ('unit=u', 'u\n\xff\n', 'in: not text: it has the byte 0xff, which')):
        assert_refused('table.py', text.encode('latin-1'), fault, '--columns', columns)
    assert_refused('table.py', b'0,1\n', '--per-step, but', '--columns', 'step=1,unit=2', '--per-step', '2')
    assert_refused('table.py', b'0,1\n', '--columns is missing')


# ---- streams -------------------------------------------------------------------------------------


def objects_are_numbered_in_order():
    data = b''.join(struct.pack('<IQIq', 0, item, 1, -1) for item in
                    (1 << 40, 7, 1 << 40, 5))
    assert run('oracle_general.py', data, '-o', path('ids.u32')) == (0, '')
    with open(path('ids.u32'), 'rb') as file:
        assert struct.unpack('<4I', file.read()) == (0, 1, 0, 2)
    assert_refused('oracle_general.py', data[:-1], '95 bytes')
    for following in -2, 0:
        assert_refused('oracle_general.py', struct.pack('<IQIq', 0, 7, 1, following),
                       f'record 0: its next access is record {following}')
    assert_refused('oracle_general.py', b'', '0 bytes')


def an_id_of_a_stream_is_a_step():
    data = struct.pack('<5I', 7, 0, 7, 3, 2)
    assert run('table.py', data, '-o', path('a.swt'), name='in.u32') == (0, '')
    assert_rows('a.swt', 'context=8 unit_kind=0 unit_tokens=1 units=8 sinks=0 recent=0 keep=1 sequences=1 '
                'steps=5', [(0, 0, {unit: 1}) for unit in (7, 0, 7, 3, 2)])
    assert run('table.py', data, '-o', path('a.swt'), '--per-step', '4', '--unit-tokens', '16',
               name='in.u32') == (0, '')
    assert_rows('a.swt', 'context=128 unit_kind=0 unit_tokens=16 units=8 sinks=0 recent=0 keep=3',
                [(0, 0, {0: 0.25, 3: 0.25, 7: 0.5}), (0, 0, {2: 1})])
    for wrong, fault in (data[:-1], '19 bytes'), (b'', 'an empty file'), (b'\xff' * 4, 'is too large'):
        status, said = run('table.py', wrong, '-o', path('b.swt'), name='in.u32')
        assert status == 1 and fault in said and not os.path.exists(path('b.swt')), said


# ---- what all refuse -----------------------------------------------------------------------------


def an_input_is_never_overwritten():
    """Neither under its own name nor through a link, and not as a file of the folder."""
    for script, data, *options in (
            ('npy.py', array()), ('oracle_general.py', struct.pack('<IQIq', 0, 7, 1, -1)),
            ('table.py', b'1\n2\n', '--columns', 'unit=1'), ('text.py', b'# swt 1 \n')):
        for output in 'in', 'link':
            if output == 'link':
                os.symlink('in', path('link'))
            status, said = run(script, data, '-o', path(output), *options)
            assert status == 1 and f"{output}' is also the input and would be overwritten" in said, said
            with open(path('in'), 'rb') as file:
                assert file.read() == data
        os.unlink(path('link'))
    convert(lines(answer()), '--layers', '2')
    status, said = run('sglang_indexer.py', lines(answer()), '-o', path('out'), '--layers', '2',
                       name='out/request-0001.swt')
    assert status == 1 and "request-0001.swt' is also the input" in said, said


def bytes_that_are_no_text_are_one_message():
    for data, byte in (b'\x1f\x8b\x08\x00', '0x8b'), (b'# swt 1 \xfe\n', '0xfe'), (b'\xff\xfea\0', '0xff'):
        for script, *options in ('text.py',), ('table.py', '--columns', 'unit=1'):
            assert_refused(script, data, f'in: not text: it has the byte {byte}, which is not UTF-8\n'
                           '  expected: text in UTF-8, not compressed', *options)


TESTS = (an_input_is_never_overwritten, bytes_that_are_no_text_are_one_message,
         an_array_is_a_trace, ranks_and_tokens_born_share_the_mass, wrong_arrays_are_refused,
         generated_tokens_are_steps, the_context_may_end_elsewhere,
         units_of_four_tokens_are_counted_in_four, several_answers_are_numbered,
         wrong_responses_are_refused, columns_are_found_by_name, columns_are_found_by_number,
         columns_that_are_not_read_are_said, steps_go_on_from_tile_to_tile, wrong_tables_are_refused,
         objects_are_numbered_in_order, an_id_of_a_stream_is_a_step)


if __name__ == '__main__':
    sys.exit(tap.run(TESTS))
