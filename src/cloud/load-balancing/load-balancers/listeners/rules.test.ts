import { describe, expect, it } from 'vitest';
import type { FieldProblem } from '../../../../lib/errors.ts';
import type { PoolProtocol } from '../pools/schema.ts';
import { connectionLimit, listenersProblems } from './new-listener.ts';
import { canonicalRanges, listenerProblems, poolMisfit, rangeFamilyProblems } from './rules.ts';
import type { ListenerProtocol } from './schema.ts';

const user = (username: string) => ({ username, encrypted_password: 'x' });

describe('a listener', () => {
  it.each<[ListenerProtocol, object, string[]]>([
    ['HTTP', { insert_x_forwarded: true }, []],
    ['TERMINATED_HTTPS', { insert_x_forwarded: true, secret_id: 's' }, []],
    ['TERMINATED_HTTPS', {}, ['a.secret_id']],
    ['TERMINATED_HTTPS', { secret_id: 's', sni_secret_ids: ['t'] }, []],
    ['PROMETHEUS', {}, []],
    ['PROMETHEUS', { sni_secret_ids: ['t'] }, ['a.secret_id']],
    ['HTTPS', { secret_id: 's' }, ['a.secret_id']],
    ['HTTP', { sni_secret_ids: ['t'] }, ['a.sni_secret_id']],
    ['TCP', { insert_x_forwarded: true }, ['a.insert_x_forwarded']],
    ['PROMETHEUS', { user_list: [user('one')] }, []],
    ['UDP', { user_list: [user('one')] }, ['a.user_list']],
    ['HTTP', { user_list: [user('one'), user('two'), user('one')] }, ['a.user_list.2.username']],
  ])('of %s with %j', (protocol, more, expected) => {
    const none = { insert_x_forwarded: false, user_list: [], secret_id: null, sni_secret_ids: [] };
    const listener = { protocol, ...none, ...more };
    expect(listenerProblems(listener, 'a.').map(({ field }) => field)).toEqual(expected);
  });

  it.each<[ListenerProtocol, PoolProtocol, boolean]>([
    ['HTTP', 'HTTP', true],
    ['HTTP', 'TCP', false],
    ['HTTPS', 'TCP', true],
    ['HTTPS', 'HTTP', false],
    ['TCP', 'HTTP', true],
    ['TCP', 'UDP', false],
    ['UDP', 'UDP', true],
    ['TERMINATED_HTTPS', 'HTTP', true],
    ['TERMINATED_HTTPS', 'UDP', false],
    ['PROMETHEUS', 'HTTP', false],
  ])('of %s and a pool of %s: %s', (listener, pool, fits) => {
    expect(poolMisfit(listener, pool) === undefined).toBe(fits);
  });

  it('has the default for -1 and for nothing', () => {
    expect([connectionLimit(-1), connectionLimit(undefined), connectionLimit(5)]).toEqual([100_000, 100_000, 5]);
  });
});

it('ranges are canonical, once each, and without bits beyond their mask', () => {
  const problems: FieldProblem[] = [];
  expect(canonicalRanges(['10.0.0.0/8', '10.0.0.5', '10.0.0.0/8', 'FD00::/8'], 'c', problems)).toEqual([
    '10.0.0.0/8',
    '10.0.0.5/32',
    'fd00::/8',
  ]);
  expect(problems).toEqual([]);
  canonicalRanges(['10.0.0.1/8', 'everywhere'], 'c', problems);
  expect(problems.map(({ field }) => field)).toEqual(['c.0', 'c.1']);
  expect(canonicalRanges(null, 'c', [])).toBeNull();
});

it.each<[string[] | null, string[], string[]]>([
  [null, ['10.0.0.5'], []],
  [[], ['10.0.0.5'], []],
  [['10.0.0.0/8', '0.0.0.0/0'], ['192.168.0.5'], []],
  [['10.0.0.0/8', 'fd00::/8'], ['192.168.0.5'], ['c.1']],
  [['10.0.0.0/8', '::/0'], ['fd00::5'], ['c.0']],
  [['10.0.0.0/8', 'fd00::/8'], ['192.168.0.5', 'fd00::5'], []],
])('of the ranges %j, those that no address of %j is reached from are named', (ranges, addresses, expected) => {
  expect(rangeFamilyProblems(ranges, addresses, 'c').map(({ field }) => field)).toEqual(expected);
});

it('listeners have ports of their own, and there are at most 50 and one for Prometheus', () => {
  const on = (protocol_port: number, protocol: ListenerProtocol = 'TCP') => ({ protocol, protocol_port });
  expect(listenersProblems([on(80), on(80, 'UDP'), on(81)])).toEqual([]);
  expect(listenersProblems([on(80), on(80, 'HTTP')]).map(({ field }) => field)).toEqual(['listeners.1.protocol_port']);
  const fifty = Array.from({ length: 50 }, (_, index) => on(index + 1));
  expect(listenersProblems([...fifty, on(9000, 'PROMETHEUS')])).toEqual([]);
  expect(listenersProblems([...fifty, on(9000)]).map(({ field }) => field)).toEqual(['listeners']);
});
