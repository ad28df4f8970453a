import { expect, it } from 'vitest';
import { hostRoutesFrom, nameserversFrom } from './rules.ts';

it('takes name servers of its family in their one form and names those that are none', () => {
  expect(nameserversFrom(['1.1.1.1'], 'IPv4')).toEqual({ nameservers: ['1.1.1.1'], problems: [] });
  expect(nameserversFrom(['2001:DB8::1'], 'IPv6')).toEqual({ nameservers: ['2001:db8::1'], problems: [] });
  const mixed = nameserversFrom(['1.1.1.1', 'dns', '1.1.1.1/32', 'fd00::1'], 'IPv4');
  expect(mixed.nameservers).toEqual(['1.1.1.1']);
  expect(mixed.problems).toMatchObject([
    { field: 'dns_nameservers.1' },
    { field: 'dns_nameservers.2' },
    { field: 'dns_nameservers.3', message: 'Must be an IPv4 address such as 1.1.1.1.' },
  ]);
});

it('takes up to five name servers, each once', () => {
  const five = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5'];
  expect(nameserversFrom(five, 'IPv4').problems).toEqual([]);
  const field = 'dns_nameservers';
  expect(nameserversFrom([...five, '1.1.1.6'], 'IPv4').problems).toEqual([
    { field, message: expect.stringContaining('at most 5') },
  ]);
  expect(nameserversFrom(['FD00::1', 'fd00:0::1'], 'IPv6').problems).toEqual([
    { field, message: expect.stringContaining('twice') },
  ]);
});

it('takes up to twenty routes, each once', () => {
  const route = (index: number) => ({ destination: `10.${index}.0.0/16`, nexthop: '10.10.0.5' });
  const routes = (count: number) => Array.from({ length: count }, (_, index) => route(index));
  expect(hostRoutesFrom(routes(20), 'IPv4').problems).toEqual([]);
  const field = 'host_routes';
  expect(hostRoutesFrom(routes(21), 'IPv4').problems).toEqual([
    { field, message: expect.stringContaining('at most 20') },
  ]);
  expect(hostRoutesFrom([route(1), route(1)], 'IPv4').problems).toEqual([
    { field, message: expect.stringContaining('twice') },
  ]);
  const otherHop = { ...route(1), nexthop: '10.10.0.6' };
  expect(hostRoutesFrom([route(1), otherHop], 'IPv4').problems).toEqual([]);
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
