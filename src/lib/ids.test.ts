import { expect, test } from 'vitest';
import { found, foundById, isUuid } from './ids.ts';
import { idsOf } from './wire.ts';

const ID = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

test.each([
  [ID, true],
  [ID.toUpperCase(), true],
  ['', false],
  [`x${ID}`, false],
  [`${ID}x`, false],
  [`${ID}\n`, false],
  [`urn:uuid:${ID}`, false],
  [ID.replaceAll('-', ''), false],
  [ID.replace('f', 'g'), false],
])('%j is a UUID: %s', (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});

test('a list of ids is one in lower case', () => {
  expect([undefined, '', ID, `${ID.toUpperCase()},b`].map(idsOf)).toEqual([[], [], [ID], [ID, 'b']]);
});

test('what is not there is not found, and what is no UUID is not asked for', async () => {
  expect(found('Volume', ID, 0)).toBe(0);
  expect(() => found('Volume', ID, undefined)).toThrow(`Volume ${ID} not found`);
  expect(await foundById('Volume', ID, () => Promise.resolve(1))).toBe(1);
  await expect(foundById('Volume', 'x', () => Promise.resolve(1))).rejects.toThrow('Volume x not found');
});
