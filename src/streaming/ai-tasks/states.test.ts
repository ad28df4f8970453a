import { expect, test } from 'vitest';
import { STATUSES, sourcesOf, TRANSITIONS, UNFINISHED } from './states.ts';

test('a final state leads nowhere', () => {
  expect(TRANSITIONS).toMatchObject({ SUCCESS: [], FAILURE: [], REVOKED: [] });
  expect(UNFINISHED).toEqual(['PENDING', 'RECEIVED', 'RETRY', 'STARTED']);
});

test('every unfinished task can be cancelled and can fail', () => {
  expect(sourcesOf('REVOKED')).toEqual(UNFINISHED);
  expect(sourcesOf('FAILURE')).toEqual(UNFINISHED);
});

test('only work that has started can succeed', () => {
  expect(sourcesOf('SUCCESS')).toEqual(['STARTED']);
});

test('every state can be reached from PENDING', () => {
  const reached = new Set<string>(['PENDING']);
  for (const status of reached) {
    for (const next of TRANSITIONS[status as keyof typeof TRANSITIONS]) reached.add(next);
  }
  expect([...reached].sort()).toEqual([...STATUSES].sort());
});
