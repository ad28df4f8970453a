import { describe, expect, test } from 'vitest';
import { addressOrRange, canonicalAddress, canonicalCidr } from './cidr.ts';

describe('canonicalCidr', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1/32', '10.0.0.1/32', 'IPv4'],
    ['10.0.0.0/24', '10.0.0.0/24', '10.0.0.0/24', 'IPv4'],
    ['10.0.0.1/24', '10.0.0.1/24', '10.0.0.0/24', 'IPv4'],
    ['0.0.0.0/0', '0.0.0.0/0', '0.0.0.0/0', 'IPv4'],
    ['2001:DB8::1', '2001:db8::1/128', '2001:db8::1/128', 'IPv6'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001/33', '2001:db8::1/33', '2001:db8::/33', 'IPv6'],
    ['0:0:0:0:0:0:0:0/0', '::/0', '::/0', 'IPv6'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3/128', '1:0:0:2::3/128', 'IPv6'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1/128', '2001:db8:0:1:1:1:1:1/128', 'IPv6'],
    ['::1.2.3.4', '::102:304/128', '::102:304/128', 'IPv6'],
    ['::ffff:1.2.3.4/96', '::ffff:102:304/96', '::ffff:0:0/96', 'IPv6'],
  ])('%s becomes %s in %s', (given, cidr, network, family) => {
    expect(canonicalCidr(given)).toEqual({ cidr, network, family });
    expect(canonicalCidr(cidr)).toEqual({ cidr, network, family });
  });

  test.each([
    '',
    '/',
    'any',
    '10.1',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '0x0a.0.0.1',
    '167772161',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    ' 10.0.0.1',
    '10.0.0.1\n',
    '10.0.0.0 /8',
    '::1/129',
    ':::',
    '1::2::3',
    '12345::',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
    '::ffff:010.0.0.1',
    '[::1]',
    `${'1'.repeat(100_000)}.1`,
  ])('refuses %j', (given) => {
    expect(canonicalCidr(given)).toBeUndefined();
  });
});

test('canonicalAddress takes no mask', () => {
  expect(canonicalAddress('FE80::0001')).toEqual({ address: 'fe80::1', family: 'IPv6' });
  expect(canonicalAddress('192.168.1.1')).toEqual({ address: '192.168.1.1', family: 'IPv4' });
  expect(canonicalAddress('192.168.1.1/32')).toBeUndefined();
});

test('addressOrRange takes both in their one form, and no range with bits beyond its mask', () => {
  expect(addressOrRange('FD00::1')).toEqual({ address: 'fd00::1' });
  expect(addressOrRange('FD00::/64')).toEqual({ address: 'fd00::/64' });
  expect(addressOrRange('10.0.0.5/32')).toEqual({ address: '10.0.0.5/32' });
  expect(addressOrRange('10.0.0.5/24')).toEqual({
    fault: 'Has bits set beyond its mask. Did you mean 10.0.0.0/24?',
  });
  expect(addressOrRange('10.0')).toHaveProperty('fault');
});
