import { createHash } from 'node:crypto';
import type { Call, Json, Kind, Ref } from '../src/backends/contract/backend.ts';
import type { Observations, Specs } from '../src/backends/contract/specs.ts';
import type { Api } from './cloud/client.ts';
import type { Names } from './names.ts';

/** What a call has in hand. */
export interface Site<K extends Kind = Kind> {
  api: Api;
  names: Names;
  ref: Ref<K>;
  call: Call;
  /** What the last answer noted for the next call. */
  notes: Notes;
  /** Saves notes at once, before an order whose answer may be lost. */
  remember(notes: Notes): Promise<unknown>;
}

/** Kept with the thing, beside its ID in the cloud. */
export type Notes = { readonly [name: string]: Json };

/** What is under way, and what to note of it. */
export interface Step {
  doing: string;
  notes?: Notes;
}

/** A thing in the cloud, as far as we read it. */
export interface Live {
  id: string;
}

/** How things of a kind are found, made, changed and removed in the cloud: one thing at a time. */
export interface Resource<K extends Kind, L extends Live> {
  /** How soon to look at what a step has brought. */
  paceMs: number;
  /** Returns all that have our mark, the oldest first: an answer that was lost may have left two. */
  marked(site: Pick<Site, 'api' | 'ref'>): Promise<L[]>;
  /** Returns the thing with this ID in the cloud. */
  get(api: Api, externalId: string): Promise<L | undefined>;
  create(site: Site<K>, spec: Specs[K]): Promise<L & { notes?: Notes }>;
  /** Whether what is in the way of a create is ours, and will go. */
  isPassing?(site: Site<K>, spec: Specs[K]): Promise<boolean>;
  /** Does the next thing; undefined if the thing is as wanted. */
  change(site: Site<K>, live: L, spec: Specs[K]): Promise<Step | undefined>;
  /** Begins or goes on to remove it. @throws what `isInTheWay` knows, while something uses it */
  remove(site: Pick<Site<K>, 'api' | 'call' | 'names' | 'notes' | 'ref'>, live: L): Promise<void>;
  /** Null for what is going away. */
  observed(live: L): Observations[K] | null;
  /** What of the thing has to be looked at again if it changes. */
  seen(live: L): unknown;
  /** Lists what the project has of the kind, also what is not ours. */
  all(api: Api): Promise<L[]>;
  /** Returns our ID of it, undefined if it has no mark. */
  idOf(live: L): string | undefined;
  /** Removes what may be left of a thing that is gone. Its ID in the cloud may never have been known. */
  forget?(site: Pick<Site<K>, 'api' | 'ref'>, externalId: string | undefined): Promise<void>;
}

/** Under this name clouds keep the IDs of what we make, where they keep names and values. */
export const MARK = 'tradewind_id';
/** Where they keep one text or tag, all of it is the mark. */
export const markOf = ({ kind, id }: Pick<Ref, 'id' | 'kind'>): string => `tradewind-${kind}-${id}`;
const MARKED = /^tradewind-([a-z_]+)-([0-9a-f-]{36})$/;

/** Returns whose mark a text is, undefined if it is none for this kind. */
export function idIn(text: string | null | undefined, kind: Kind): string | undefined {
  const [, of, id] = MARKED.exec(text ?? '') ?? [];
  return of === kind ? id : undefined;
}

/** At the pauses of `progressing`, more than two minutes: so long Nova waits for a guest that is asked to reboot. */
const OFTEN = 45;

/** Orders get lost with the bus of the cloud. Whether this was seen so often in a row that it is time to do something about it. */
export const isLookedAtOften = ({ told, times }: Notes, doing: string): boolean =>
  told === doing && (Number(times) + 1) % OFTEN === 0;

export const digestOf = (seen: unknown): string =>
  createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 16);

/** Whether two lists have the same members, in any order. */
export const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && new Set([...one, ...other]).size === new Set(one).size;

/** Neutron gives addresses of IPv6 to ports by itself where a subnet has routers announce them: these don't count. */
export const hasAddresses = (there: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((one) => there.includes(one)) && there.every((one) => wanted.includes(one) || one.includes(':'));
