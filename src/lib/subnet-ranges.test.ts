import { describe, expect, it } from 'vitest';
import { gatewayIn, keepsGateway, poolOf, type SubnetRange, subnetRange } from './subnet-ranges.ts';

const range: SubnetRange = {
  family: 'IPv4',
  cidr: '10.10.0.0/24',
  firstHost: '10.10.0.1',
  lastHost: '10.10.0.254',
};
const range6: SubnetRange = {
  family: 'IPv6',
  cidr: 'fd00:10::/64',
  firstHost: 'fd00:10::1',
  lastHost: 'fd00:10::ffff:ffff:ffff:ffff',
};

describe('subnetRange', () => {
  it.each([
    ['10.10.0.0/24', range],
    ['192.168.255.248/29', { firstHost: '192.168.255.249', lastHost: '192.168.255.254' }],
    ['200.0.0.0/8', { firstHost: '200.0.0.1', lastHost: '200.255.255.254' }],
    ['FD00:0010:0:0::/64', range6],
    ['2001:db8::/32', { cidr: '2001:db8::/32', lastHost: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff' }],
    ['fd00::8/125', { firstHost: 'fd00::9', lastHost: 'fd00::f' }],
  ])('knows the hosts of %s', (text, expected) => {
    expect(subnetRange(text)).toMatchObject(expected);
  });

  it.each([
    ['10.0.0.0', '/32'],
    ['10.0.0.0/30', '/30'],
    ['10.0.0.0/7', '/7'],
    ['10.0.0/24', 'CIDR'],
    ['127.0.0.0/24', 'reserved'],
    ['169.254.0.0/16', 'reserved'],
    ['224.1.0.0/16', 'reserved'],
    ['240.0.0.0/24', 'reserved'],
    ['250.0.0.0/24', 'reserved'],
    ['fd00::/31', '/31'],
    ['fd00::/126', '/126'],
    ['fe80::/64', 'reserved'],
    ['ff05::/64', 'reserved'],
    ['::/64', 'reserved'],
    ['::ffff:0:0/96', 'reserved'],
    ['64:ff9b::/96', 'reserved'],
    ['2002:c000:204::/48', 'reserved'],
    ['2001::/32', 'reserved'],
    ['4000::/64', 'reserved'],
    ['fd00::%eth0/64', 'CIDR'],
    ['10.10.0.7/24', 'Did you mean 10.10.0.0/24?'],
    ['192.168.255.255/29', 'Did you mean 192.168.255.248/29?'],
    ['FD00:10::5/64', 'Did you mean fd00:10::/64?'],
  ])('refuses %s', (text, word) => {
    expect(subnetRange(text)).toMatchObject({ field: 'cidr', message: expect.stringContaining(word) });
  });
});

describe('the gateway', () => {
  it.each([
    [range, '10.10.0.1', '10.10.0.9', '10.10.0.9'],
    [range6, 'fd00:10::1', 'FD00:10:0::0009', 'fd00:10::9'],
  ])('is the first address unless another or none is asked for', (of, first, text, other) => {
    expect(gatewayIn(of, undefined)).toBe(first);
    expect(gatewayIn(of, text)).toBe(other);
    expect(gatewayIn(of, null)).toBeNull();
  });

  it.each(['10.10.0.0', '10.10.0.255', '10.10.1.1', 'fd00:10::1', 'gate'])('is not %s of IPv4', (text) => {
    expect(gatewayIn(range, text)).toMatchObject({ field: 'gateway_ip' });
  });

  it.each(['fd00:10::', 'fd00:10:0:1::1', '10.10.0.1', 'fe80::1', 'fd00:10::1/64'])('is not %s of IPv6', (text) => {
    expect(gatewayIn(range6, text)).toMatchObject({ field: 'gateway_ip' });
  });

  it.each([
    [range, '10.10.0.1', '10.10.0.2', '10.10.0.254', false],
    [range, '10.10.0.254', '10.10.0.1', '10.10.0.253', false],
    [range, '10.10.0.100', '10.10.0.1', '10.10.0.254', true],
    [range, null, '10.10.0.1', '10.10.0.254', false],
    [range6, 'fd00:10::1', 'fd00:10::2', 'fd00:10::ffff:ffff:ffff:ffff', false],
    [range6, 'fd00:10::ffff:ffff:ffff:ffff', 'fd00:10::1', 'fd00:10::ffff:ffff:ffff:fffe', false],
    [range6, 'fd00:10::5', 'fd00:10::1', 'fd00:10::ffff:ffff:ffff:ffff', true],
  ])('of %o is %s and leaves %s to %s, kept there: %s', (of, gateway, first, last, kept) => {
    const pool = poolOf(of, gateway);
    expect(pool).toEqual({ first, last });
    expect(pool && keepsGateway(pool, gateway)).toBe(kept);
  });

  it.each([
    ['10.10.0.1', 3, { first: '10.10.0.5' }],
    ['10.10.0.3', 3, { first: '10.10.0.5' }],
    ['10.10.0.4', 3, { first: '10.10.0.5' }],
    ['10.10.0.100', 3, { first: '10.10.0.4' }],
    [null, 3, { first: '10.10.0.4' }],
    ['10.10.0.1', 252, { first: '10.10.0.254', last: '10.10.0.254' }],
  ])('%s is not among the %i that the backend keeps', (gateway, keeps, expected) => {
    expect(poolOf(range, gateway, keeps)).toMatchObject(expected);
  });

  it('leaves nothing where the backend keeps all', () => {
    expect(poolOf(range, '10.10.0.1', 253)).toBeUndefined();
  });
});
