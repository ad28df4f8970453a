import { expect, test } from 'vitest';
import { canonicalAddress } from './cidr.ts';
import { addressAt, familyOf, isBetween, numberOf } from './ip-addresses.ts';

test.each([
  ['0.0.0.0', 0n],
  ['10.0.0.1', 167_772_161n],
  ['255.255.255.255', 2n ** 32n - 1n],
  ['::', 0n],
  ['fd00::1', (0xfdn << 120n) + 1n],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 2n ** 128n - 1n],
])('%s is a number and back', (address, number) => {
  expect(numberOf(address)).toBe(number);
  expect(addressAt(number, familyOf(address))).toBe(address);
});

test.each([
  ['10.0.0.1', '10.0.0.1', '10.0.0.9', true],
  ['10.0.0.1', '10.0.0.9', '10.0.0.9', true],
  ['10.0.0.2', '10.0.0.10', '10.0.0.9', false],
  ['fd00::1', 'fd00::ffff', 'fd00::1:0', true],
  ['fd00::1', 'fd00::', 'fd00::1:0', false],
  ['::', '10.0.0.1', 'ffff::', false],
  ['0.0.0.0', '::1', '255.255.255.255', false],
])('between %s is %s and %s: %s', (first, address, last, expected) => {
  expect(isBetween(first, address, last)).toBe(expected);
});

test('addresses from numbers are in their one form', () => {
  for (let number = 1n; number < 2n ** 128n; number *= 977n) {
    const address = addressAt(number, 'IPv6');
    expect(canonicalAddress(address)?.address).toBe(address);
  }
});
