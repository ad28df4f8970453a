import { expect, it } from 'vitest';
import { hostIn } from './backend.ts';

it.each([
  ['affinity', [], 1],
  ['affinity', [2, 2], 2],
  ['anti-affinity', [], 1],
  ['anti-affinity', [0, 1], 2],
  ['anti-affinity', [0, 2], 1],
  ['soft-anti-affinity', [], 1],
  ['soft-anti-affinity', [0, 1], 2],
  ['soft-anti-affinity', [0, 1, 2, 2], 1],
  ['soft-anti-affinity', [0, 1, 1, 2], 0],
] as const)('of three hosts, where a machine is on host 1: %s beside %j takes %i', (policy, others, host) => {
  expect(hostIn(policy, others, 3, 1)).toBe(host);
});

it('refuses an anti-affinity group that is larger than its hosts, and no other', () => {
  expect(() => hostIn('anti-affinity', [0, 1, 2], 3)).toThrow('No valid host was found');
  expect(hostIn('soft-anti-affinity', [0, 1, 2], 3)).toBe(0);
  expect(hostIn('affinity', [0, 0, 0], 1)).toBe(0);
});
