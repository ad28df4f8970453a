import type { IpFamily } from '../../../lib/cidr.ts';

export type AddressHolder = { port: string } | { floatingIp: string } | { router: string };

/** Where to take an address from. */
export type AddressSource =
  | { kind: 'external'; family: IpFamily }
  /** `family` is the family that the request expects, if it names one. */
  | {
      kind: 'subnet';
      networkId?: string | undefined;
      subnetId: string;
      address?: string | undefined;
      family?: IpFamily | undefined;
    }
  | { kind: 'any-subnet'; networkId: string; family: IpFamily; address?: string | undefined };

/** An address that a port, a floating IP or a router asks for. `field` is its field in the request, for error messages. */
export interface AddressWish {
  holder: AddressHolder;
  field: string;
  from: AddressSource;
}

export interface TakenAddress {
  holder: AddressHolder;
  networkId: string;
  subnetId: string;
  address: string;
  external: boolean;
}

export interface HeldAddress {
  subnetId: string;
  address: string;
}

export const noneLeft = (subnetId: string): string =>
  `Subnet ${subnetId} has no free addresses; delete resources that you no longer need, or use another subnet`;
export const noneLeftOutside = (subnetId: string): string =>
  `The external network has no free addresses in subnet ${subnetId}; delete floating IPs, reserved fixed IPs or routers that you no longer need`;
export const isTaken = (addresses: readonly string[]): string =>
  `A requested address is already in use: ${addresses.join(', ')}`;
