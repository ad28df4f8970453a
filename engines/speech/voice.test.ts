import { expect, it } from 'vitest';
import { padded } from './voice.ts';

const SECOND = 16_000;

it('gives phrases 0.2 s of the silence around them', () => {
  expect(padded([{ from: SECOND, to: 2 * SECOND }], 10 * SECOND)).toEqual([{ from: 0.8 * SECOND, to: 2.2 * SECOND }]);
});

it('goes at most to the middle between two phrases, and not past the ends', () => {
  const phrases = [
    { from: 1_000, to: 2 * SECOND },
    { from: 2 * SECOND + 100, to: 3 * SECOND },
  ];
  expect(padded(phrases, 3 * SECOND)).toEqual([
    { from: 500, to: 2 * SECOND + 50 },
    { from: 2 * SECOND + 50, to: 3 * SECOND },
  ]);
});
