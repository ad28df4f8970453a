import { describe, expect, it } from 'vitest';
import {
  gatewayIn,
  hostRoutesFrom,
  keepsGateway,
  nameserversFrom,
  poolOf,
  subnetRange,
} from './new-subnet.ts';

const range = { cidr: '10.10.0.0/24', firstHost: '10.10.0.1', lastHost: '10.10.0.254' };

describe('subnetRange', () => {
  it('clears host bits', () => {
    expect(subnetRange('10.10.0.7/24')).toEqual(range);
    expect(subnetRange('192.168.255.255/29')).toEqual({
      cidr: '192.168.255.248/29',
      firstHost: '192.168.255.249',
      lastHost: '192.168.255.254',
    });
    expect(subnetRange('200.0.0.0/8')).toMatchObject({ lastHost: '200.255.255.254' });
  });

  it.each([
    ['10.0.0.0', '/32'],
    ['10.0.0.0/30', '/30'],
    ['10.0.0.0/7', '/7'],
    ['10.0.0/24', 'range'],
    ['fd00::/64', 'IPv6'],
    ['127.0.0.0/24', 'kept'],
    ['169.254.0.0/16', 'kept'],
    ['224.1.0.0/16', 'kept'],
    ['250.0.0.0/24', 'kept'],
  ])('refuses %s', (text, word) => {
    expect(subnetRange(text)).toMatchObject({ field: 'cidr', message: expect.stringContaining(word) });
  });
});

describe('the gateway', () => {
  it('is the first address unless another or none is asked for', () => {
    expect(gatewayIn(range, undefined)).toBe('10.10.0.1');
    expect(gatewayIn(range, '10.10.0.9')).toBe('10.10.0.9');
    expect(gatewayIn(range, null)).toBeNull();
  });

  it.each(['10.10.0.0', '10.10.0.255', '10.10.1.1', 'fd00::1', 'gate'])('is not %s', (text) => {
    expect(gatewayIn(range, text)).toMatchObject({ field: 'gateway_ip' });
  });

  it.each([
    ['10.10.0.1', '10.10.0.2', '10.10.0.254', false],
    ['10.10.0.254', '10.10.0.1', '10.10.0.253', false],
    ['10.10.0.100', '10.10.0.1', '10.10.0.254', true],
    [null, '10.10.0.1', '10.10.0.254', false],
  ])('%s leaves %s to %s, kept there: %s', (gateway, first, last, kept) => {
    const pool = poolOf(range, gateway);
    expect(pool).toEqual({ first, last });
    expect(keepsGateway(pool, gateway)).toBe(kept);
  });
});

it('takes name servers in their one form and names those that are none', () => {
  expect(nameserversFrom(['1.1.1.1', '2001:DB8::1'])).toEqual({
    nameservers: ['1.1.1.1', '2001:db8::1'],
    problems: [],
  });
  expect(nameserversFrom(['dns']).problems).toMatchObject([{ field: 'dns_nameservers.0' }]);
  expect(nameserversFrom(['1.1.1.1', '1.1.1.1']).problems).toHaveLength(1);
  expect(
    nameserversFrom(['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5', '1.1.1.6']).problems,
  ).toHaveLength(1);
});

it('takes routes in their one form and names the field that is wrong', () => {
  expect(hostRoutesFrom([{ destination: '192.168.1.1/16', nexthop: '10.10.0.5' }])).toEqual({
    routes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.5' }],
    problems: [],
  });
  expect(hostRoutesFrom([{ destination: 'x', nexthop: 'fd00::1' }]).problems).toMatchObject([
    { field: 'host_routes.0.destination' },
    { field: 'host_routes.0.nexthop' },
  ]);
});
