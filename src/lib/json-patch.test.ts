import { applyPatch } from 'rfc6902';
import { describe, expect, it } from 'vitest';
import { patchOf } from './json-patch.ts';

const rules = (...ids: (number | string)[]) => ids.map((id) => ({ id, ports: [1, 2] }));

describe('turns one document into the other', () => {
  it.each([
    ['the same', { a: [1], b: {} }, { a: [1], b: {} }, 0],
    ['another value', { a: 1 }, { a: 2 }, 1],
    ['a value that is new, and one that is gone', { a: 1 }, { b: 1 }, 2],
    ['an item at the end', rules(1, 2), rules(1, 2, 3), 1],
    ['the first item', [], rules(1), 1],
    ['the last item removed', rules(1), [], 1],
    ['items at the start, between and at the end', rules(2, 4), rules(1, 2, 3, 4, 5, 6), 4],
    ['some items gone', rules(1, 2, 3, 4, 5), rules(2, 5), 3],
    ['some gone and some new', rules(1, 2, 3, 4), rules(9, 2, 8, 4, 7), 5],
    ['a field of an item', [...rules(1), { id: 2, a: 1 }], [...rules(1), { id: 2, a: 5 }], 1],
    ['a field of an item that moves up', [...rules(1), { id: 2, a: 1 }], [{ id: 2, a: 5 }], 2],
    ['all items', rules(1, 2, 3), rules(4, 5, 6), 1],
    ['another order', rules(1, 2, 3), rules(3, 1, 2), 1],
    ['the same id twice', rules(1, 1), rules(1, 1, 2), 1],
    ['numbers and texts as ids', rules(1, 'a'), rules('a', 1), 1],
    ['items without ids in their places', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 3 }], 1],
    ['one item without an id more', ['a', 'b'], ['a', 'x', 'b'], 1],
    ['lists in lists', [['a'], ['b', 'c']], [['a'], ['b', 'd', 'c']], 1],
    ['a list where none was', { a: null }, { a: [1] }, 1],
    ['names with slashes', { 'a/b~c': rules(1) }, { 'a/b~c': rules(1, 2) }, 1],
  ])('%s', (_, before, after, operations) => {
    const patch = patchOf({ list: before }, { list: after });
    expect(patch).toHaveLength(operations);
    const document = { list: structuredClone(before) };
    expect(applyPatch(document, patch).filter((failure) => failure !== null)).toEqual([]);
    expect(document).toEqual({ list: after });
  });

  it('whatever of ten items goes, stays or comes', () => {
    let seed = 7;
    const next = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let round = 0; round < 500; round++) {
      const some = () =>
        Array.from({ length: 10 }, (_, id) => ({ id, of: Math.floor(next() * 2) })).filter(() => next() < 0.6);
      const [before, after] = [some(), some()];
      const document = { list: structuredClone(before) };
      applyPatch(document, patchOf({ list: before }, { list: after }));
      expect(document).toEqual({ list: after });
    }
  });
});

it('says what comes from nothing, and what becomes nothing', () => {
  expect(patchOf(undefined, { a: 1 })).toEqual([{ op: 'add', path: '', value: { a: 1 } }]);
  expect(patchOf({ a: 1 }, undefined)).toEqual([{ op: 'remove', path: '' }]);
  expect(patchOf(undefined, undefined)).toEqual([]);
});

it('compares the items of long lists once', () => {
  let reads = 0;
  const counted = (id: number) => ({
    id,
    get name() {
      reads++;
      return `rule-${id}`;
    },
  });
  const of = (from: number) => Array.from({ length: 1_000 }, (_, index) => counted(from + index));
  expect(patchOf(of(0), of(500))).toHaveLength(1_000);
  expect(reads).toBeLessThan(10_000);
});
