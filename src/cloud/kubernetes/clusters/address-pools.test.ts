import { describe, expect, test } from 'vitest';
import { type AddressPoolsInput, addressPools } from './address-pools.ts';

const fieldsOf = (given: AddressPoolsInput, subnet?: string) =>
  addressPools(given, subnet).problems.map(({ field }) => field);

describe('address pools', () => {
  test('have defaults', () => {
    expect(addressPools({ pods_ip_pool: null }, undefined)).toEqual({
      pools: {
        pods_ip_pool: '172.16.0.0/18',
        services_ip_pool: '172.24.0.0/18',
        pods_ipv6_pool: null,
        services_ipv6_pool: null,
      },
      problems: [],
    });
  });

  test('come in one form', () => {
    const { pools, problems } = addressPools(
      { is_ipv6: true, pods_ipv6_pool: 'FD00:0:0::/104', services_ipv6_pool: 'fd01::/112' },
      undefined,
    );
    expect(problems).toEqual([]);
    expect(pools).toMatchObject({ pods_ipv6_pool: 'fd00::/104', services_ipv6_pool: 'fd01::/112' });
  });

  test.each<[widest: AddressPoolsInput, narrowest: AddressPoolsInput]>([
    [{ pods_ip_pool: '12.0.0.0/8' }, { pods_ip_pool: '10.0.0.0/24' }],
    [{ services_ip_pool: '10.0.0.0/12' }, { services_ip_pool: '10.0.0.0/28' }],
    [{ pods_ipv6_pool: 'fd00::/48' }, { pods_ipv6_pool: 'fd00::/120' }],
    [{ services_ipv6_pool: 'fd00::/108' }, { services_ipv6_pool: 'fd00::/124' }],
  ])('may be as wide as %j and as narrow as %j, and no more', (widest, narrowest) => {
    const byOne = (pool: AddressPoolsInput, step: number): AddressPoolsInput =>
      Object.fromEntries(
        Object.entries(pool).map(([field, cidr]) => {
          const [address, mask] = String(cidr).split('/');
          return [field, `${address}/${Number(mask) + step}`];
        }),
      );
    const fieldsOfBoth = (given: AddressPoolsInput) => fieldsOf({ ...given, is_ipv6: true });
    expect([widest, narrowest].map(fieldsOfBoth)).toEqual([[], []]);
    const fields = Object.keys(widest);
    expect([byOne(widest, -1), byOne(narrowest, 1)].map(fieldsOfBoth)).toEqual([fields, fields]);
  });

  test('of IPv4 need no dual-stack cluster', () => {
    expect(fieldsOf({ pods_ip_pool: '10.0.0.0/16', services_ip_pool: '10.1.0.0/16' })).toEqual([]);
  });

  test.each<[what: string, given: AddressPoolsInput, fields: string[]]>([
    ['no mask', { pods_ip_pool: '10.0.0.0' }, ['pods_ip_pool']],
    ['no CIDR', { pods_ip_pool: 'ten' }, ['pods_ip_pool']],
    ['host bits', { pods_ip_pool: '10.0.0.1/16' }, ['pods_ip_pool']],
    ['too many service addresses', { services_ip_pool: '10.0.0.0/11' }, ['services_ip_pool']],
    ['too few service addresses', { services_ip_pool: '10.0.0.0/29' }, ['services_ip_pool']],
    ['the other family', { pods_ip_pool: 'fd00::/112' }, ['pods_ip_pool']],
    ['the other family with a fitting length', { pods_ip_pool: 'fd00::/16' }, ['pods_ip_pool']],
    ['IPv4 for IPv6', { is_ipv6: true, pods_ipv6_pool: '10.0.0.0/16' }, ['pods_ipv6_pool']],
    ['IPv6 alone', { services_ipv6_pool: 'fd00::/112' }, ['services_ipv6_pool']],
    [
      'one within the other',
      { pods_ip_pool: '10.0.0.0/8', services_ip_pool: '10.9.0.0/16' },
      ['pods_ip_pool', 'services_ip_pool'],
    ],
    ['the default of the other', { pods_ip_pool: '172.24.0.0/16' }, ['pods_ip_pool']],
    ['the default of pods', { services_ip_pool: '172.16.0.0/16' }, ['services_ip_pool']],
    ['what the platform uses', { pods_ip_pool: '192.168.0.0/16' }, ['pods_ip_pool']],
    ['the other range of the platform', { services_ip_pool: '10.255.255.0/28' }, ['services_ip_pool']],
    [
      'one IPv6 range for both',
      { is_ipv6: true, pods_ipv6_pool: 'fd00::/112', services_ipv6_pool: 'fd00::/112' },
      ['services_ipv6_pool'],
    ],
    ['IPv6 with IPv6 off', { is_ipv6: null, pods_ipv6_pool: 'fd00::/112' }, ['pods_ipv6_pool']],
  ])('refuse %s', (_what, given, fields) => {
    expect(fieldsOf(given)).toEqual(fields);
  });

  test('stay clear of the subnet of the nodes', () => {
    expect(fieldsOf({}, '172.16.3.0/24')).toEqual(['pods_ip_pool']);
    expect(fieldsOf({}, '10.0.0.0/24')).toEqual([]);
  });
});
