import { expect, test } from 'vitest';
import { pageOf } from './page.ts';

test.each([
  [{}, ['1', '2', '3']],
  [{ limit: 2 }, ['1', '2']],
  [{ offset: 1 }, ['2', '3']],
  [{ limit: 1, offset: 1 }, ['2']],
  [{ offset: 3 }, []],
])('the page %j counts all and shows its part', (page, results) => {
  expect(pageOf([1, 2, 3], page, String)).toEqual({ count: 3, results });
});

test('a page has a thousand without a limit', () => {
  expect(pageOf(Array(1001).fill(0), {}, String).results).toHaveLength(1000);
});
