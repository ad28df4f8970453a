import { expect, it } from 'vitest';
import { prefixIn, slugOf } from './new-region.ts';

it('a prefix gives the addresses of the largest pool of its subnet', () => {
  const subnet = { cidr: '203.0.113.0/24', gateway_ip: null };
  const pools = [
    { start: '203.0.113.2', end: '203.0.113.9' },
    { start: '203.0.113.20', end: '203.0.113.200' },
  ];
  expect(prefixIn({ ...subnet, allocation_pools: pools })).toEqual({
    ...{ cidr: '203.0.113.0/24', gateway: null },
    ...{ first: '203.0.113.20', last: '203.0.113.200' },
  });
  expect(prefixIn({ ...subnet, allocation_pools: [] })).toBeUndefined();
});

it('the name of a region makes one for URLs', () => {
  expect(slugOf('São Paulo, 2nd floor', 4)).toBe('sao-paulo-2nd-floor');
  expect(slugOf('東京', 4)).toBe('region-4');
  expect(slugOf(`${'a'.repeat(59)} b`, 4)).toBe('a'.repeat(59));
});
