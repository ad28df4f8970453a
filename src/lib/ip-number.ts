import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { IpFamily } from './cidr.ts';

/** Addresses as numbers, to compare and count them. All texts must be canonical (`canonicalAddress`). */
export const BITS: Record<IpFamily, number> = { IPv4: 32, IPv6: 128 };

export function familyOf(address: string): IpFamily {
  return isIPv4(address) ? 'IPv4' : 'IPv6';
}

export function numberOf(address: string): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((number, byte) => number * 256n + BigInt(byte), 0n);
}

export function addressAt(number: bigint, family: IpFamily): string {
  const bytes = Array.from({ length: BITS[family] / 8 }, (_, index) =>
    Number((number >> BigInt(BITS[family] - 8 - 8 * index)) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

/** Whether an address lies in the range, including both ends; false for an address of the other family. */
export function isBetween(first: string, address: string, last: string): boolean {
  if (familyOf(first) !== familyOf(address)) return false;
  const number = numberOf(address);
  return numberOf(first) <= number && number <= numberOf(last);
}
