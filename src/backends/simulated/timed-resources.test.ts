import { expect, it } from 'vitest';
import { phaseAt } from './timed-resources.ts';

const phases = [
  { state: 'scheduling', ms: 100 },
  { state: 'spawning', ms: 300 },
];

it.each([
  [0, 1, 'scheduling', 100],
  [99.5, 1, 'scheduling', 1],
  [100, 1, 'spawning', 300],
  [399, 1, 'spawning', 1],
  [400, 1, 'active', null],
  [20, 4, 'scheduling', 5],
  [100, 4, 'active', null],
  [0, 0.5, 'scheduling', 200],
])('after %d ms at speed %d it is %s', (age, speed, state, askAgainMs) => {
  expect(phaseAt(phases, 'active', age, speed)).toEqual({ state, askAgainMs });
});
