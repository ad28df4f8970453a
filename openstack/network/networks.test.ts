import { expect, it } from 'vitest';
import { poolsOf } from './networks.ts';

it.each([
  ['10.1.0.0/24', '10.1.0.1', 3, [['10.1.0.2', '10.1.0.4']]],
  ['10.1.0.0/24', '10.1.0.254', 3, [['10.1.0.1', '10.1.0.3']]],
  ['10.1.0.0/24', null, 1, [['10.1.0.1', '10.1.0.1']]],
  [
    '10.1.0.0/24',
    '10.1.0.3',
    4,
    [
      ['10.1.0.1', '10.1.0.2'],
      ['10.1.0.4', '10.1.0.5'],
    ],
  ],
  // A small subnet has fewer. Nobody gets the broadcast address.
  ['10.1.0.0/29', '10.1.0.1', 8, [['10.1.0.2', '10.1.0.6']]],
  ['fd00::/64', 'fd00::1', 2, [['fd00::2', 'fd00::3']]],
] as const)('of %s with the gateway %s, Neutron gets the lowest %i addresses', (cidr, gateway, count, expected) => {
  expect(poolsOf({ cidr, gateway, dhcp: true }, count)).toEqual(expected.map(([start, end]) => ({ start, end })));
});
