/** What a port asks for. `field` is where the request says so, for the texts of refusals. */
export interface AddressWish {
  portId: string;
  field: string;
  from:
    | { kind: 'external' }
    | { kind: 'subnet'; networkId: string; subnetId: string; address?: string | undefined }
    | { kind: 'any-subnet'; networkId: string; address?: string | undefined };
}

export interface TakenAddress {
  portId: string;
  networkId: string;
  subnetId: string;
  address: string;
  external: boolean;
}

export interface HeldAddress {
  subnetId: string;
  address: string;
}
