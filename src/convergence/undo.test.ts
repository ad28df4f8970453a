import { expect, test } from 'vitest';
import { undone, undoOf } from './wants.ts';

type Spec = object | null;

test.each<[what: string, former: Spec, changed: Spec, current: Spec, expected: Spec]>([
  ['a change', { size: 1, name: 'a' }, { size: 2, name: 'a' }, { size: 2, name: 'a' }, { size: 1, name: 'a' }],
  [
    'a change, keeping a later one',
    { size: 1, name: 'a' },
    { size: 2, name: 'a' },
    { size: 2, name: 'b' },
    { size: 1, name: 'b' },
  ],
  ['a field that was added', { size: 1 }, { size: 1, name: 'a' }, { size: 1, name: 'a' }, { size: 1 }],
  ['a field that went', { size: 1, name: 'a' }, { size: 1 }, { size: 2 }, { size: 2, name: 'a' }],
  [
    'what is inside a field',
    { port: { ip: 'x', mac: 'y' } },
    { port: { ip: 'z', mac: 'y' } },
    { port: { ip: 'z', mac: 'q' } },
    { port: { ip: 'x', mac: 'q' } },
  ],
  ['nothing', { size: 1 }, { size: 1 }, { size: 3 }, { size: 3 }],
  ['a creation', null, { size: 1 }, { size: 1 }, null],
  ['a creation that has been changed since', null, { size: 1 }, { size: 2 }, null],
  ['a change of what is to go by now', { size: 1 }, { size: 2 }, null, null],
])('takes back %s', (_, former, changed, current, expected) => {
  expect(undone(current, undoOf(former, changed), { wasRemoval: changed === null })).toEqual(expected);
});

test('takes back a removal', () => {
  const former = { size: 1, tags: ['a'] };
  expect(undone(null, undoOf(former, null), { wasRemoval: true })).toEqual(former);
});

test('leaves the current spec as it is', () => {
  const current = { port: { ip: 'z' } };
  undone(current, { port: { ip: 'x' } }, { wasRemoval: false });
  expect(current).toEqual({ port: { ip: 'z' } });
});
