import { describe, expect, it } from 'vitest';
import type { MemberHealth } from '../../../../backends/contract/specs.ts';
import { operatingStatuses } from './operating-status.ts';
import type { Trees } from './store.ts';

interface Shape {
  balancer?: object;
  listener?: object;
  pool?: object;
  monitor?: object | null;
  /** The health of each member of the default pool, or what else is special of it. */
  members?: (MemberHealth | object)[];
  /** The members of a pool to which a policy sends requests. */
  redirected?: MemberHealth[];
}

/** A load balancer with one listener, its default pool and, where it is wanted, a policy with a pool of its own. */
function treesOf({ members = [], redirected, ...shape }: Shape): Trees {
  const on = { provisioning_status: 'ACTIVE', admin_state_up: true };
  const { monitor: given = {} } = shape;
  const monitor = given && { id: 'monitor', type: 'TCP', admin_state_up: true, ...given };
  const all = [
    ...members.map((member) => ({ pool_id: 'pool', member })),
    ...(redirected ?? []).map((member) => ({ pool_id: 'other', member })),
  ];
  const others = redirected
    ? {
        pools: [{ id: 'other', ...on, load_balancer_id: 'lb', health_monitor: { ...monitor, id: 'second' } }],
        policies: [{ id: 'policy', ...on, listener_id: 'listener', redirect_pool_id: 'other' }],
      }
    : { pools: [], policies: [] };
  return {
    balancers: [{ id: 'lb', ...on, ...shape.balancer }],
    listeners: [{ id: 'listener', ...on, load_balancer_id: 'lb', default_pool_id: 'pool', ...shape.listener }],
    pools: [{ id: 'pool', ...on, load_balancer_id: 'lb', health_monitor: monitor, ...shape.pool }, ...others.pools],
    policies: others.policies,
    rules: [],
    members: all.map(({ pool_id, member }, index) => ({
      id: `member${index}`,
      pool_id,
      ...on,
      ...(typeof member === 'object' && member),
    })),
    health: Object.fromEntries(
      all.flatMap(({ member }, index) => (typeof member === 'string' ? [[`member${index}`, member]] : [])),
    ),
  } as unknown as Trees;
}

function statuses(shape: Shape) {
  const found = operatingStatuses(treesOf(shape));
  return ['lb', 'listener', 'pool', 'member0'].map((id) => found.get(id)).join(' ');
}

describe('upwards', () => {
  it.each<[string, Shape, string]>([
    ['nothing below', {}, 'ONLINE ONLINE ONLINE '],
    ['all work', { members: ['ONLINE', 'ONLINE'] }, 'ONLINE ONLINE ONLINE ONLINE'],
    ['one of two fails', { members: ['ERROR', 'ONLINE'] }, 'DEGRADED DEGRADED DEGRADED ERROR'],
    ['all fail', { members: ['ERROR', 'ERROR'] }, 'ERROR ERROR ERROR ERROR'],
    ['one drains', { members: ['DRAINING', 'ONLINE'] }, 'ONLINE ONLINE ONLINE DRAINING'],
    ['nobody was asked yet', { members: [{}] }, 'ONLINE ONLINE ONLINE ONLINE'],
    ['no monitor', { monitor: null, members: ['ERROR'] }, 'ONLINE ONLINE ONLINE NO_MONITOR'],
    [
      'the monitor is off',
      { monitor: { admin_state_up: false }, members: ['ERROR'] },
      'ONLINE ONLINE ONLINE NO_MONITOR',
    ],
    [
      'the member that is off fails',
      { members: [{ admin_state_up: false }, 'ONLINE'] },
      'ONLINE ONLINE ONLINE OFFLINE',
    ],
    ['those that are on fail', { members: [{ admin_state_up: false }, 'ERROR'] }, 'ERROR ERROR ERROR OFFLINE'],
    ['the pool is off', { pool: { admin_state_up: false }, members: ['ERROR'] }, 'ONLINE ONLINE OFFLINE ERROR'],
    ['the listener is off', { listener: { admin_state_up: false }, members: ['ERROR'] }, 'ONLINE OFFLINE ERROR ERROR'],
    [
      'the load balancer is off',
      { balancer: { admin_state_up: false }, members: ['ONLINE'] },
      'OFFLINE ONLINE ONLINE ONLINE',
    ],
    ['the pool of a policy fails', { members: ['ONLINE'], redirected: ['ERROR'] }, 'DEGRADED DEGRADED ONLINE ONLINE'],
    [
      'the default pool fails, that of a policy works',
      { members: ['ERROR'], redirected: ['ONLINE'] },
      'ERROR ERROR ERROR ERROR',
    ],
    [
      'the load balancer is being created',
      { balancer: { provisioning_status: 'PENDING_CREATE' } },
      'OFFLINE ONLINE ONLINE ',
    ],
  ])('%s', (_, shape, expected) => {
    expect(statuses(shape)).toBe(expected);
  });
});

it('of a monitor and a policy is whether they are there and on', () => {
  const found = operatingStatuses(treesOf({ members: ['ERROR'], redirected: ['ERROR'] }));
  expect([found.get('monitor'), found.get('policy')]).toEqual(['ONLINE', 'ONLINE']);
  const off = operatingStatuses(treesOf({ monitor: { admin_state_up: false } }));
  expect(off.get('monitor')).toBe('OFFLINE');
});

it('keeps load balancers apart', () => {
  const trees = treesOf({ members: ['ERROR'] });
  const [first] = trees.balancers;
  if (!first) throw new TypeError('there is one');
  const found = operatingStatuses({ ...trees, balancers: [first, { ...first, id: 'second' }] });
  expect([found.get('lb'), found.get('second')]).toEqual(['ERROR', 'ONLINE']);
});
