import { expect, test } from 'vitest';
import { senderNetwork } from './ip-addresses.ts';

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['unknown', 'unknown'],
  ['un:known', 'un:known'],
])('%s is the sender %s', (address, sender) => {
  expect(senderNetwork(address)).toBe(sender);
});

test('addresses of one /64 are one sender, and of two are two', () => {
  const [one, same, other] = ['2001:db8:0:1::1', '2001:DB8:0:1:ffff::2', '2001:db8:0:2::1'].map(senderNetwork);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(senderNetwork('2001:db8:1:b::1')).not.toBe(senderNetwork('2001:db8:b:1::1'));
});
