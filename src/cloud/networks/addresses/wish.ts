import type { IpFamily } from '../../../lib/cidr.ts';

export type AddressHolder = { port: string } | { floatingIp: string };

/** Where one address is to come from. */
export type AddressSource =
  | { kind: 'external'; family: IpFamily }
  /** `family` is what the request takes the subnet for, where it says so. */
  | {
      kind: 'subnet';
      networkId?: string | undefined;
      subnetId: string;
      address?: string | undefined;
      family?: IpFamily | undefined;
    }
  | { kind: 'any-subnet'; networkId: string; family: IpFamily; address?: string | undefined };

/** What a port or a floating IP asks for. `field` is where the request says so, for the texts of refusals. */
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
