import { type TUnsafe, Type } from 'typebox';
import { canonicalAddress, type IpFamily } from '../../../lib/cidr.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import { nullable } from '../../../lib/nullable.ts';

/** What requests say of the addresses of a port: of which family, or one of each. */
export type IpFamilyWish = 'dual' | 'ipv4' | 'ipv6' | null | undefined;

const family = (options: object): TUnsafe<Exclude<IpFamilyWish, undefined>> =>
  nullable(Type.Enum(['dual', 'ipv4', 'ipv6'], { type: 'string', ...options }));

export const IpFamilyInput = Type.Optional(
  family({ description: 'Family of the address; `dual` is one of each. `ipv4` when left out' }),
);

/** Where the address is named otherwise. The library under the older Terraform provider sends it in every form. */
export const LegacyIpFamily = Type.Optional(
  family({ ...LEGACY, description: 'Refused where it differs from the family of what is named' }),
);

/** IPv4 comes first, wherever there are both. */
export function familiesOf(wish: IpFamilyWish): IpFamily[] {
  if (wish === 'dual') return ['IPv4', 'IPv6'];
  return wish === 'ipv6' ? ['IPv6'] : ['IPv4'];
}

/** The families of the addresses of a port in a network, and the address of one of them that may be asked for by name. */
export function wishedAddresses(
  wish: IpFamilyWish,
  named: string | null | undefined,
): { family: IpFamily; address: string | undefined }[] {
  if (named === null || named === undefined) {
    return familiesOf(wish).map((family) => ({ family, address: undefined }));
  }
  const own = canonicalAddress(named)?.family ?? 'IPv4';
  const families = wish === null || wish === undefined ? [own] : familiesOf(wish);
  // One that isn't of the family asked for is refused where the address is taken.
  const bearer = families.includes(own) ? own : families[0];
  return families.map((family) => ({ family, address: family === bearer ? named : undefined }));
}
