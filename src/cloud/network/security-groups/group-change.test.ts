import { describe, expect, test } from 'vitest';
import { changesNothing, changeToWanted, type GroupChange, isSameRule, refuseRuleConflicts } from './group-change.ts';
import { canonicalRule, duplicateKey, type RuleInput } from './rules/rule.ts';
import { MAX_RULES } from './schema.ts';

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

test.each<[what: string, other: Partial<RuleInput>, same: boolean]>([
  ['nothing', {}, true],
  ['the protocol', { protocol: 'udp' }, false],
  ['the description', { description: 'ping' }, false],
  ['how everyone is written', { remote_ip_prefix: '0.0.0.0/0' }, false],
])('rules that differ in %s are equal in every field: %s', (_, other, same) => {
  expect(isSameRule(rule({ protocol: 'tcp' }), rule({ protocol: 'tcp', ...other }))).toBe(same);
});

test.each<[GroupChange, nothing: boolean]>([
  [{}, true],
  [{ name: 'a', description: 'd', tags: { y: '2', x: '1' }, removed: [], replaced: [], added: [] }, true],
  [{ tags: { x: '1' } }, false],
  [{ name: 'b' }, false],
  [{ description: '' }, false],
  [{ removed: ['r'] }, false],
  [{ replaced: [known('r', {})] }, false],
  [{ added: [rule({})] }, false],
])('%j changes nothing: %s', (change, nothing) => {
  const group = { name: 'a', description: 'd', tags: { x: '1', y: '2' }, rules: [] };
  expect(changesNothing(group, change)).toBe(nothing);
});

describe('refuseRuleConflicts', () => {
  const groupOf = (rules: ReturnType<typeof known>[]) => ({ name: 'a', description: '', tags: {}, rules });
  const group = groupOf([known('a', { protocol: 'tcp' }), known('b', { protocol: 'udp' })]);

  test.each<[what: string, change: GroupChange]>([
    ['another rule', { added: [rule({ protocol: 'ah' })] }],
    ['a rule in place of its twin', { removed: ['a'], added: [rule({ protocol: 'tcp' })] }],
    ['a new description', { replaced: [known('a', { protocol: 'tcp', description: 'web' })] }],
    ['two rules that change places', { replaced: [known('a', { protocol: 'udp' }), known('b', { protocol: 'tcp' })] }],
  ])('takes %s', (_, change) => {
    expect(() => refuseRuleConflicts(group, change)).not.toThrow();
  });

  test.each<[what: string, change: GroupChange]>([
    ['added', { added: [rule({ protocol: 'ah' }), rule({ protocol: 'udp', description: 'again' })] }],
    ['made of another', { replaced: [known('a', { protocol: 'udp' })] }],
    ['added while another goes', { removed: ['a'], added: [rule({ protocol: 'udp' })] }],
  ])('refuses a rule that is there and is %s, and names it', (_, change) => {
    expect(() => refuseRuleConflicts(group, change)).toThrow(/rule b already exists/);
  });

  const port = (number: number) => ({ protocol: 'tcp', port_range_min: number, port_range_max: number });
  const ports = (count: number) => Array.from({ length: count }, (_, i) => known(`k${i}`, port(i + 1)));

  test('lets a group have the most rules of a creation and the two that let everything out', () => {
    const full = groupOf(ports(MAX_RULES + 1));
    const one = rule({ protocol: 'udp' });
    expect(() => refuseRuleConflicts(full, { added: [one] })).not.toThrow();
    expect(() => refuseRuleConflicts(full, { added: [one, rule({ protocol: 'ah' })] })).toThrow(
      `would have ${MAX_RULES + 3} rules, and the maximum is ${MAX_RULES + 2}`,
    );
    expect(() => refuseRuleConflicts(full, { removed: ['k0'], added: [one, rule({ protocol: 'ah' })] })).not.toThrow();
    expect(() => refuseRuleConflicts(full, { replaced: [known('k0', port(60_000))], added: [one] })).not.toThrow();
    expect(() =>
      refuseRuleConflicts(full, {
        replaced: [known('k0', port(60_000))],
        added: [one, rule({ protocol: 'ah' })],
      }),
    ).toThrow(`would have ${MAX_RULES + 3} rules`);
  });

  test('lets a group that has more already change, as long as it doesn’t grow', () => {
    const over = groupOf(ports(MAX_RULES + 10));
    const one = rule({ protocol: 'udp' });
    expect(() => refuseRuleConflicts(over, { removed: ['k0'], added: [one] })).not.toThrow();
    expect(() => refuseRuleConflicts(over, { added: [one] })).toThrow('remove some first');
  });
});
