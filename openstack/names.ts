import { type Kind, Unavailable } from '../src/backends/contract/backend.ts';
import type { Api } from './cloud/client.ts';

/** What of the catalogue has another name or ID in the cloud: ours, and theirs. */
export interface Mappings {
  flavors: Record<string, string>;
  images: Record<string, string>;
  loadBalancerFlavors: Record<string, string>;
  networks: Record<string, string>;
  volumeTypes: Record<string, string>;
}

const MOST_KNOWN = 20_000;
const SOON_MS = 1_000;

/** Finds the cloud's IDs of our things. What it found once it knows, until something proves to be gone. */
export interface Names {
  /** @throws Unavailable while the cloud doesn't have it */
  of(api: Api, kind: Kind, id: string): Promise<string>;
  /** The same for what may be the cloud's own, such as the subnet of an external network: undefined then. */
  ifOurs(api: Api, kind: Kind, id: string): Promise<string | undefined>;
  know(kind: Kind, id: string, externalId: string): void;
  forget(): void;
  readonly mappings: Mappings;
}

export type Lookup = (api: Api, kind: Kind, id: string) => Promise<string | undefined>;

export function createNames(mappings: Mappings, lookup: Lookup): Names {
  const known = new Map<string, string>();
  const names: Names = {
    mappings,
    async of(api, kind, id) {
      const found = await names.ifOurs(api, kind, id);
      if (found !== undefined) return found;
      throw new Unavailable(`waiting for ${kind.replaceAll('_', ' ')} ${id}`, { retryAfterMs: SOON_MS });
    },
    async ifOurs(api, kind, id) {
      const found = known.get(`${kind} ${id}`) ?? (await lookup(api, kind, id));
      if (found !== undefined) names.know(kind, id, found);
      return found;
    },
    know(kind, id, externalId) {
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(`${kind} ${id}`, externalId);
    },
    forget: () => known.clear(),
  };
  return names;
}
