import { expect, it } from 'vitest';
import { closestName } from './texts.ts';

const KNOWN = ['scan-interval', 'scale-down-enabled', 'expander'];

it.each([
  ['scan-intervall', 'scan-interval'],
  ['scan_interval', 'scan-interval'],
  ['--expander', 'expander'],
  ['Expender', 'expander'],
  ['scale-down-enable', 'scale-down-enabled'],
])('reads %s as %s', (name, meant) => {
  expect(closestName(name, KNOWN)).toBe(meant);
});

it.each(['', 'colour', 'x'.repeat(65), 'max'])('suggests nothing for %j', (name) => {
  expect(closestName(name, KNOWN)).toBeUndefined();
});
