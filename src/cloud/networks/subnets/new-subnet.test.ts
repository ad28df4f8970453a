import { expect, it } from 'vitest';
import { hostRoutesFrom, nameserversFrom } from './new-subnet.ts';

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
  expect(hostRoutesFrom([{ destination: '192.168.0.0/16', nexthop: '10.10.0.5' }], 'IPv4')).toEqual({
    routes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.5' }],
    problems: [],
  });
  expect(hostRoutesFrom([{ destination: 'FD00:20::/48', nexthop: 'FD00::1' }], 'IPv6')).toEqual({
    routes: [{ destination: 'fd00:20::/48', nexthop: 'fd00::1' }],
    problems: [],
  });
  for (const family of ['IPv4', 'IPv6'] as const) {
    const route = { destination: 'x', nexthop: family === 'IPv4' ? 'fd00::1' : '10.0.0.1' };
    expect(hostRoutesFrom([route], family).problems).toMatchObject([
      { field: 'host_routes.0.destination', message: expect.stringContaining(family) },
      { field: 'host_routes.0.nexthop', message: expect.stringContaining(family) },
    ]);
  }
  expect(hostRoutesFrom([{ destination: '192.168.1.1/16', nexthop: '10.10.0.5' }], 'IPv4').problems).toEqual([
    {
      field: 'host_routes.0.destination',
      message: 'Has bits set beyond its mask. Did you mean 192.168.0.0/16?',
    },
  ]);
});
