import { describe, expect, it } from 'vitest';
import { contains } from '../../../lib/cidr.ts';
import { overlap, routesFrom, unreachable } from './attachment.ts';

const route = (destination: string, nexthop: string) => ({ destination, nexthop });

describe('the routes of a request', () => {
  it('become canonical and keep their order', () => {
    const given = [route('FD00:0::/48', 'fd00:10:0::5'), route('192.168.0.0/16', '10.10.0.5')];
    expect(routesFrom(given)).toEqual({
      routes: [route('fd00::/48', 'fd00:10::5'), route('192.168.0.0/16', '10.10.0.5')],
      problems: [],
    });
  });

  it.each([
    [[route('x', '10.0.0.5')], 'routes.0.destination'],
    [[route('192.168.0.1/16', '10.0.0.5')], 'routes.0.destination'],
    [[route('192.168.0.0/16', '10.0.0')], 'routes.0.nexthop'],
    [[route('192.168.0.0/16', 'fd00::1')], 'routes.0.nexthop'],
    [[route('192.168.0.0/16', '10.0.0.5'), route('192.168.0.0/16', '10.0.0.5')], 'routes'],
    [Array.from({ length: 31 }, (_, index) => route(`192.168.${index}.0/24`, '10.0.0.5')), 'routes'],
  ])('are refused: %j', (given, field) => {
    expect(routesFrom(given).problems.map((problem) => problem.field)).toEqual([field]);
  });

  it('may be thirty, and two may lead to the same place by different ways', () => {
    const many = Array.from({ length: 29 }, (_, index) => route(`192.168.${index}.0/24`, '10.0.0.5'));
    expect(routesFrom([...many, route('192.168.0.0/24', '10.0.0.6')]).problems).toEqual([]);
  });
});

it('a next hop is in a range of the router, and not the router', () => {
  const reach = [
    { cidr: '10.10.0.0/24', address: '10.10.0.1' },
    { cidr: 'fd00:10::/64', address: 'fd00:10::1' },
  ];
  const wrong = (nexthop: string) => unreachable([route('192.168.0.0/16', nexthop)], reach).map(({ field }) => field);
  expect(wrong('10.10.0.5')).toEqual([]);
  expect(wrong('fd00:10::5')).toEqual([]);
  for (const nexthop of ['10.10.0.1', '10.10.1.5', 'fd00:11::5']) {
    expect(wrong(nexthop)).toEqual(['routes.0.nexthop']);
  }
});

it('ranges contain addresses and overlap each other', () => {
  expect(contains('10.10.0.0/24', '10.10.0.255')).toBe(true);
  expect(contains('10.10.0.0/24', '10.10.1.0')).toBe(false);
  expect(contains('10.10.0.0/24', 'fd00::1')).toBe(false);
  expect(overlap('10.0.0.0/8', '10.10.0.0/24')).toBe(true);
  expect(overlap('10.10.0.0/24', '10.0.0.0/8')).toBe(true);
  expect(overlap('10.10.0.0/24', '10.10.1.0/24')).toBe(false);
  expect(overlap('fd00::/32', 'fd00:0:1::/48')).toBe(true);
});
