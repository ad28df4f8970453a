import { type TUnsafe, Type } from 'typebox';
import { canonicalAddress, type IpFamily } from '../../../lib/cidr.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import { Choice, nullable } from '../../../lib/wire.ts';

/** The address families that a request wants for a port: one of them, or one address of each. */
export type IpFamilyWish = 'dual' | 'ipv4' | 'ipv6' | null | undefined;

const family = (options: object): TUnsafe<Exclude<IpFamilyWish, undefined>> =>
  nullable(Choice(['dual', 'ipv4', 'ipv6'], { ...options }));

export const IpFamilyInput = Type.Optional(
  family({ description: 'Address family; `dual` assigns one of each. Defaults to `ipv4`' }),
);

/** For ports whose address is named otherwise. The library under the older Terraform provider always sends it. */
export const LegacyIpFamily = Type.Optional(
  family({ ...LEGACY, description: 'Must match the family of the given subnet or port' }),
);

/** Returns the wanted families, IPv4 first. */
export function familiesOf(wish: IpFamilyWish): IpFamily[] {
  if (wish === 'dual') return ['IPv4', 'IPv6'];
  return wish === 'ipv6' ? ['IPv6'] : ['IPv4'];
}

/** Returns the wanted families of a port's addresses, with the address that the request names for one of them. */
export function wishedAddresses(
  wish: IpFamilyWish,
  named: string | null | undefined,
): { family: IpFamily; address: string | undefined }[] {
  if (named === null || named === undefined) {
    return familiesOf(wish).map((family) => ({ family, address: undefined }));
  }
  const own = canonicalAddress(named)?.family ?? 'IPv4';
  const families = wish === null || wish === undefined ? [own] : familiesOf(wish);
  // If the address isn't of a wanted family, it is refused when it is taken.
  const bearer = families.includes(own) ? own : families[0];
  return families.map((family) => ({ family, address: family === bearer ? named : undefined }));
}
