import { describe, expect, test } from 'vitest';
import { changesNothing, changeToWanted } from './group-change.ts';
import { canonicalRule, type RuleInput } from './rules/canonical.ts';
import { duplicateKey } from './rules/duplicates.ts';

const rule = (given: Partial<RuleInput>) => canonicalRule({ direction: 'ingress', ...given });
const known = (id: string, given: Partial<RuleInput>) => ({
  ...rule(given),
  id,
  duplicate_key: duplicateKey(rule(given)),
});

describe('changeToWanted', () => {
  test('adds, removes and changes only what differs', () => {
    const change = changeToWanted(
      [known('a', { protocol: 'tcp' }), known('b', { protocol: 'udp' }), known('c', { protocol: 'icmp' })],
      [rule({ protocol: 'icmp', description: 'ping' }), rule({ protocol: 'tcp' }), rule({ protocol: 'ah' })],
    );
    expect(change).toEqual({
      removed: ['b'],
      replaced: [{ ...rule({ protocol: 'icmp', description: 'ping' }), id: 'c' }],
      added: [rule({ protocol: 'ah' })],
    });
  });

  test('finds nothing to do for the same set in another order', () => {
    const change = changeToWanted(
      [known('a', { protocol: 'tcp' }), known('b', { protocol: 'udp' })],
      [rule({ protocol: 'udp' }), rule({ protocol: 'tcp' })],
    );
    expect(change).toEqual({ removed: [], replaced: [], added: [] });
  });
});

test('changesNothing compares tags without their order', () => {
  const group = { name: 'a', description: '', tags: { x: '1', y: '2' }, rules: [] };
  expect(changesNothing(group, { tags: { y: '2', x: '1' } })).toBe(true);
  expect(changesNothing(group, { tags: { x: '1' } })).toBe(false);
  expect(changesNothing(group, { name: 'b' })).toBe(false);
  expect(changesNothing(group, { removed: ['r'] })).toBe(false);
});
