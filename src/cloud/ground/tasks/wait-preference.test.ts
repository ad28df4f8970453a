import { expect, test } from 'vitest';
import { waitPreference } from './routes.ts';

test.each([
  ['wait=10', 10],
  ['Wait = 10', 10],
  ['wait="7"', 7],
  ['respond-async, wait=10', 10],
  ['wait=5; why=hurry, return=minimal', 5],
  ['wait=5, wait=9', 5],
  ['wait=0', 0],
  ['wait=61', 60],
  ['wait=999999999', 60],
])('%s is %i seconds', (header, seconds) => {
  expect(waitPreference(header)).toBe(seconds);
});

test.each([undefined, '', 'wait', 'wait=', 'wait=-1', 'wait=1.5', 'wait=soon', 'nowait=5', 'wait=1e3'])(
  '%s asks for none',
  (header) => {
    expect(waitPreference(header)).toBeUndefined();
  },
);
