import { expect, it } from 'vitest';
import { prefixIn, slugOf } from './new-region.ts';

it.each([
  [
    'before the pool, after the gateway',
    '203.0.113.1',
    [['203.0.113.100', '203.0.113.200']],
    ['203.0.113.2', '203.0.113.99'],
  ],
  ['after the pool', '203.0.113.1', [['203.0.113.2', '203.0.113.20']], ['203.0.113.21', '203.0.113.254']],
  [
    'between pools, in whatever order',
    null,
    [
      ['203.0.113.200', '203.0.113.254'],
      ['203.0.113.1', '203.0.113.9'],
    ],
    ['203.0.113.10', '203.0.113.199'],
  ],
  ['all, without a pool', null, [], ['203.0.113.1', '203.0.113.254']],
] as const)('a region gives addresses that no pool of Neutron has: %s', (_where, gateway, pools, [first, last]) => {
  const allocation_pools = pools.map(([start, end]) => ({ start, end }));
  const subnet = { cidr: '203.0.113.0/24', gateway_ip: gateway, allocation_pools };
  expect(prefixIn(subnet)).toEqual({ cidr: '203.0.113.0/24', gateway, first, last });
});

it('a region has no addresses of a subnet that Neutron gives out alone', () => {
  const allocation_pools = [{ start: '203.0.113.2', end: '203.0.113.254' }];
  expect(prefixIn({ cidr: '203.0.113.0/24', gateway_ip: '203.0.113.1', allocation_pools })).toBeUndefined();
});

it('the name of a region makes one for URLs', () => {
  expect(slugOf('São Paulo, 2nd floor', 4)).toBe('sao-paulo-2nd-floor');
  expect(slugOf('東京', 4)).toBe('region-4');
  expect(slugOf(`${'a'.repeat(59)} b`, 4)).toBe('a'.repeat(59));
});
