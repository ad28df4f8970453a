import type { Database } from '../../db/database.ts';
import { type Chain, checkSeals, readChain, type SealCheck } from './chain.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
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
  /** Written before there were seals. */
  unsealable: number;
  /** Records from before that time were removed by retention. */
  removedBefore: Date | null;
  head: Head | undefined;
  /** What is not as it was sealed, for people; the first hundred. */
  faults: string[];
}

/**
 * Compares all records with their seals, and the seals with each other.
 * @param options.known a seal that must be among them
 * @param options.keptDays for how many days records are kept: nothing that is newer may be missing. Undefined for ever.
 */
export async function verifyAudit(
  { sql }: Pick<Database, 'sql'>,
  { known, keptDays }: { known?: Head | undefined; keptDays: number | undefined },
): Promise<Verification> {
  const chain = await readChain(sql);
  const { unsealed, unsealable, removedBefore } = chain;
  // Whoever raises the mark further is not believed.
  const latest = keptDays === undefined ? undefined : new Date(chain.now.getTime() - keptDays * DAY_MS + MINUTE_MS);
  const isRight = removedBefore === null || (latest !== undefined && removedBefore <= latest);
  const removable = isRight ? removedBefore : (latest ?? null);
  const faults = faultsOfBeginning(chain, removable);
  if (!isRight) faults.unshift(faultOfRetention(removedBefore, keptDays));
  const knownHash = new Map(chain.anchor && [[chain.anchor.number, chain.anchor.hash.toString('hex')]]);
  let [seals, records, last] = [0, 0, chain.anchor?.number ?? 0];
  let page: SealCheck[];
  do {
    page = await checkSeals(sql, last, PAGE);
    for (const seal of page) {
      faults.push(...faultsOf(seal, removable));
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
  return { seals, records, unsealed, unsealable, removedBefore, head, faults: faults.slice(0, MOST_FAULTS) };
}

function faultsOfBeginning({ anchor, impossible }: Chain, removable: Date | null): string[] {
  if (!anchor) return ['The seals are gone'];
  const faults: string[] = [];
  // Retention leaves the last seal whose records are gone.
  const isRight = anchor.number === 0 || (anchor.is_whole && removable !== null && anchor.last_at < removable);
  if (!isRight) faults.push(`The seals before ${anchor.number} are gone`);
  if (impossible.length > 0)
    faults.push(`Records were inserted with numbers that the log has not given: ${impossible.join(', ')}`);
  return faults;
}

function faultOfRetention(removedBefore: Date, keptDays: number | undefined): string {
  const kept = keptDays === undefined ? 'keeps all records' : `keeps those of the last ${keptDays} days`;
  return `Records from before ${removedBefore.toISOString()} are marked as removed, but TRADEWIND_LOG_KEPT_DAYS ${kept}. If it was lower then, check with it as it was`;
}

function faultsOfKnown(known: Head, hash: string | undefined, first = 0): string[] {
  const name = `Seal ${known.number}, which was written down,`;
  // Whether it was retention that removed it, nothing can tell any more.
  if (known.number < first) return [`${name} is from before what is kept, and proves nothing. Check with a later one`];
  if (hash === undefined) return [`${name} is gone`];
  return hash === known.hash ? [] : [`Seal ${known.number} is not the one that was written down`];
}

function faultsOf(seal: SealCheck, removable: Date | null): string[] {
  const times = `${seal.first_at.toISOString()} to ${seal.last_at.toISOString()}`;
  const where = `Seal ${seal.number} (records ${seal.first_id} to ${seal.last_id}, ${times})`;
  if (!seal.is_linked) return [`${where}: does not follow from the seal before it`];
  if (seal.is_same) return [];
  const newest = seal.found === 0 ? seal.last_at : seal.first_at;
  if (removable && newest < removable && seal.found < seal.records) return [];
  return [
    seal.found === seal.records
      ? `${where}: a record was changed`
      : `${where}: ${seal.records} records were sealed, and ${seal.found} are there`,
  ];
}
