import { expect, it } from 'vitest';
import { tableOf } from './table.ts';

const CITY = '東京都大阪府';

it('has columns for letters of two columns, too', () => {
  expect(
    tableOf(
      [
        ['ID', 'NAME', 'X'],
        ['1', CITY, 'y'],
      ],
      undefined,
    ),
  ).toBe(`ID  NAME          X\n1   ${CITY}  y\n`);
});

it('cuts what is too wide for the terminal, each row into one line', () => {
  const rows = [
    ['ID', 'NAME', 'X'],
    ['1', CITY, CITY.repeat(3)],
    ['2', 'web', '👩‍👩‍👧'.repeat(20)],
  ];
  const lines = tableOf(rows, 30).trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^1 {3}東京.*…$/);
  expect(lines[2]).toMatch(/^2 {3}web .*…$/);
});
