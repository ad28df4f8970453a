export type AddressHolder = { port: string } | { floatingIp: string };

/** What a port or a floating IP asks for. `field` is where the request says so, for the texts of refusals. */
export interface AddressWish {
  holder: AddressHolder;
  field: string;
  from:
    | { kind: 'external' }
    | { kind: 'subnet'; networkId?: string | undefined; subnetId: string; address?: string | undefined }
    | { kind: 'any-subnet'; networkId: string; address?: string | undefined };
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
