import type { Database } from '../../db/database.ts';
import { type Chain, checkSeals, readChain, type SealCheck } from './chain.ts';

/** Seals that are compared in one statement. */
const PAGE = 100;
const MOST_FAULTS = 100;

/** A seal that somebody has written down, as `verify` names the last one. */
export interface Head {
  number: number;
  hash: string;
}

export interface Verification {
  seals: number;
  records: number;
  /** Written since the last seal: nothing is known of them yet. */
  unsealed: number;
  /** Records from before that time were removed by retention. */
  removedBefore: Date | null;
  head: Head | undefined;
  /** What is not as it was sealed, for people; the first hundred. */
  faults: string[];
}

/** Compares all records with their seals, and the seals with each other. `known`: a seal that must be among them. */
export async function verifyAudit(
  { sql }: Pick<Database, 'sql'>,
  known: Head | undefined,
): Promise<Verification> {
  const chain = await readChain(sql);
  const { unsealed, removedBefore } = chain;
  const faults = faultsOfBeginning(chain);
  const knownHash = new Map(chain.anchor && [[chain.anchor.number, chain.anchor.hash.toString('hex')]]);
  let [seals, records, last] = [0, 0, chain.anchor?.number ?? 0];
  let page: SealCheck[];
  do {
    page = await checkSeals(sql, last, PAGE);
    for (const seal of page) {
      faults.push(...faultsOf(seal, removedBefore));
      knownHash.set(seal.number, seal.hash.toString('hex'));
      last = seal.number;
      seals++;
      records += seal.found;
    }
    // Only the last one and that which was written down are asked for later.
    for (const number of knownHash.keys()) {
      if (number !== last && number !== known?.number) knownHash.delete(number);
    }
  } while (page.length === PAGE && faults.length < MOST_FAULTS);
  if (known) faults.push(...faultsOfKnown(known, knownHash.get(known.number), chain.anchor?.number));
  const hash = knownHash.get(last);
  const head = hash === undefined ? undefined : { number: last, hash };
  return { seals, records, unsealed, removedBefore, head, faults: faults.slice(0, MOST_FAULTS) };
}

function faultsOfBeginning({ anchor, removedBefore }: Chain): string[] {
  if (!anchor) return ['The seals are gone'];
  // Retention leaves the last seal whose records are gone.
  const isRight = anchor.number === 0 || (removedBefore !== null && anchor.last_at < removedBefore);
  return isRight ? [] : [`The seals before ${anchor.number} are gone`];
}

function faultsOfKnown(known: Head, hash: string | undefined, first = 0): string[] {
  // Nothing is kept from so long ago.
  if (known.number < first) return [];
  if (hash === undefined) return [`Seal ${known.number}, which was written down, is gone`];
  return hash === known.hash ? [] : [`Seal ${known.number} is not the one that was written down`];
}

function faultsOf(seal: SealCheck, removedBefore: Date | null): string[] {
  const times = `${seal.first_at.toISOString()} to ${seal.last_at.toISOString()}`;
  const where = `Seal ${seal.number} (records ${seal.first_id} to ${seal.last_id}, ${times})`;
  if (!seal.is_linked) return [`${where}: does not follow from the seal before it`];
  if (seal.is_same) return [];
  if (removedBefore && seal.first_at < removedBefore && seal.found < seal.records) return [];
  return [
    seal.found === seal.records
      ? `${where}: a record was changed`
      : `${where}: ${seal.records} records were sealed, and ${seal.found} are there`,
  ];
}
