import { expect, test } from 'vitest';
import { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from '../../../engines/nudity-labels.ts';
import { parseStopObjects } from './stop-objects.ts';

test('reads objects with and without a probability', () => {
  expect(parseStopObjects('ANUS_EXPOSED, FACE_MALE:0.50,BELLY_EXPOSED:1', SOFT_NUDITY_LABELS)).toEqual([
    { label: 'ANUS_EXPOSED' },
    { label: 'FACE_MALE', probability: 0.5 },
    { label: 'BELLY_EXPOSED', probability: 1 },
  ]);
});

test('an object of another category is refused with the objects of this one', () => {
  expect(parseStopObjects('FACE_MALE', HARD_NUDITY_LABELS)).toMatchObject({
    problem: expect.stringContaining('FACE_MALE is not an object of this category; the objects are ANUS_EXPOSED,'),
  });
});

test.each([
  '',
  ',',
  'ANUS_EXPOSED,',
  'anus_exposed',
  'ANUS_EXPOSED:',
  'ANUS_EXPOSED:1.1',
  'ANUS_EXPOSED:-0.1',
  'ANUS_EXPOSED:.5',
  'ANUS_EXPOSED:0.5:0.6',
  'ANUS_EXPOSED:half',
  'ANUS_EXPOSED,ANUS_EXPOSED:0.5',
])('%j is refused', (text) => {
  expect(parseStopObjects(text, HARD_NUDITY_LABELS)).toHaveProperty('problem');
});
