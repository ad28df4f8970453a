import { sql } from 'kysely';
import type { PoolConfig } from 'pg';
import { pino } from 'pino';
import { runningEmbedded } from '../../postgres/index.ts';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import { troubleOf } from '../backends/health.ts';
import type { Makers } from '../backends/maker.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import { countByRegion } from '../cloud/network/networks/external/service.ts';
import type { Config } from '../config.ts';
import { compare, type Orphan } from '../convergence/orphans.ts';
import { openDatabase, type Sql } from '../db/database.ts';
import { faultOf, smtpOutlet } from '../mail/sending/outlets.ts';
import { unwrapAll, type WrappedKey, wrappedKeys } from '../secrets/data-keys.ts';
import { type EncryptionKeys, encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { isFresh, keyNeeded } from '../secrets/preparation.ts';
import { createSecrets } from '../secrets/secrets.ts';
import { countOthers } from '../secrets/sweep.ts';
import { LIVES } from '../worker/heartbeat.ts';
import { hostOf, letterheadOf } from './from-settings.ts';
import { connectionTo, hasDatabase } from './storage.ts';

/** `missing` stops Tradewind; `limited` leaves something out. Both say how to fix it. */
export interface Finding {
  what: string;
  state: 'ok' | 'limited' | 'missing';
  detail: string;
}

type Made = (what: string, detail: string) => Finding;
export const ok: Made = (what, detail) => ({ what, state: 'ok', detail });
export const limited: Made = (what, detail) => ({ what, state: 'limited', detail });
export const missing: Made = (what, detail) => ({ what, state: 'missing', detail });

/** How long a backend may take to list everything that it has. */
const LIST_MS = 10_000;
const log = pino({ level: 'silent' });

/** Looks at what the catalogue names: its backends, its public addresses, and who works on its regions. */
export async function catalogFindings(config: Config, catalog: Catalog, makers: Makers): Promise<Finding[]> {
  const found = [
    backendFindings(config, catalog, makers),
    addressFindings(config, catalog),
    workerFindings(config, catalog),
  ];
  return (await Promise.all(found)).flat();
}

/** Returns the health of each backend in the catalogue, and whether it has orphans. */
export async function backendFindings(config: Config, catalog: Catalog, makers: Makers): Promise<Finding[]> {
  const connection = runningDatabase(config);
  // Without a database, checks that need one are skipped.
  const database = openDatabase(connection ?? {}, 2);
  const { sql } = database;
  try {
    const secrets = createSecrets({ sql, encryptionKeys: encryptionKeysOf(config) });
    const backends = createBackends(makers, { sql, secrets, ...hostOf(config) });
    backends.adopt(catalog);
    // Before the first start or without a connection, which is reported elsewhere, there is nothing to compare with.
    const answers = connection !== undefined && (await hasWants());
    return await Promise.all(
      backends.all().map(async (named) => {
        const trouble = await troubleOf(named.backend, log);
        const what = `Backend ${named.name}`;
        if (trouble !== undefined) return missing(what, trouble);
        const has = named.backend.about?.();
        const detail = `of the kind ${catalog.backends.get(named.name)?.kind}${has === undefined ? '' : `; ${has}`}`;
        const fault = answers ? await orphanFault(sql, named) : undefined;
        return fault === undefined ? ok(what, detail) : limited(what, `${detail}; ${fault}`);
      }),
    );
  } catch (error) {
    return [missing('Backends', (error as Error).message)];
  } finally {
    await database.close();
  }

  async function hasWants(): Promise<boolean> {
    try {
      await sql.selectFrom('wants').select('id').limit(1).execute();
      return true;
    } catch {
      return false;
    }
  }
}

/** An alert of deploy/prometheus has the same limit. */
const FEW_LEFT = 0.05;

/** Names the regions that will soon have no public address to give. */
export async function addressFindings(config: Config, catalog: Catalog): Promise<Finding[]> {
  const connection = runningDatabase(config);
  if (connection === undefined) return [];
  const database = openDatabase(connection, 1);
  try {
    const what = 'Public addresses';
    const counted = (await countByRegion(database.sql)).filter(({ family }) => family === 'IPv4');
    const few = counted.filter(
      ({ regionId, free, inUse }) => catalog.regions.has(regionId) && free < (free + inUse) * FEW_LEFT,
    );
    if (few.length === 0) return counted.length === 0 ? [] : [ok(what, 'enough IPv4 in every region')];
    const texts = few.map(({ regionId, free, inUse }) => `region ${regionId} has ${free} of ${free + inUse} IPv4 left`);
    return [limited(what, `${texts.join(', ')}; add prefixes in regions.yaml and run "tradewind catalog apply"`)];
  } catch {
    // Before the first start, or an unreachable database, which is reported elsewhere.
    return [];
  } finally {
    await database.close();
  }
}

/** Names the regions whose infrastructure no worker works on, if there are workers that are bound to regions. */
async function workerFindings(config: Config, catalog: Catalog): Promise<Finding[]> {
  const connection = runningDatabase(config);
  if (connection === undefined) return [];
  const database = openDatabase(connection, 1);
  try {
    const workers = await database.sql
      .selectFrom('workers')
      .select(sql<number[] | null>`to_json(regions)`.as('regions'))
      .where(LIVES)
      .execute();
    const bound = workers.flatMap(({ regions }) => regions ?? []);
    if (bound.length === 0) return [];
    const isServed = (id: number) => bound.includes(id) || workers.some(({ regions }) => regions === null);
    const without = [...catalog.regions.keys()].filter((id) => !isServed(id));
    const what = 'Workers';
    if (without.length === 0) return [ok(what, 'every region has one')];
    return [
      limited(
        what,
        `none works on the infrastructure of region ${without.join(', ')}; start one with TRADEWIND_WORKER_REGIONS=${without.join(',')}`,
      ),
    ];
  } catch {
    // Before the first start, or an unreachable database, which is reported elsewhere.
    return [];
  } finally {
    await database.close();
  }
}

/** Says that the backend has things that nobody wants, or why it could not list its things. */
async function orphanFault(sql: Sql, named: NamedBackend): Promise<string | undefined> {
  const { orphans, problem } = await orphansIn(sql, named);
  if (problem !== null) return `it could not list its resources: ${problem}`;
  return orphans.length > 0 ? 'it has resources that nobody wants: "tradewind orphans list" shows them' : undefined;
}

/** Returns what the backend has that nobody wants, or why it could not list its things. */
export async function orphansIn(sql: Sql, named: NamedBackend): Promise<{ orphans: Orphan[]; problem: string | null }> {
  const signal = AbortSignal.timeout(LIST_MS);
  try {
    const { orphans } = await compare({ sql, log, signal }, named);
    return { orphans, problem: null };
  } catch (error) {
    const problem = signal.aborted ? `no answer within ${LIST_MS / 1_000} s` : (error as Error).message;
    return { orphans: [], problem };
  }
}

/** Returns how to connect to the database; undefined for an embedded one that doesn't run. */
export function runningDatabase({ databaseUrl, dataDir }: Config): PoolConfig | undefined {
  return databaseUrl === undefined ? runningEmbedded(dataDir) : connectionTo(databaseUrl);
}

const ENCRYPTION_KEY = 'Encryption key';
const LOSS =
  'If it is lost, so are the keys of clusters, passwords and user data of machines, headers of subscriptions and all logins: keep a copy apart from the backups of the database (docs/secrets.md)';

/** Reports where the encryption key is, whether it fits the database, and what its loss would mean. */
export async function encryptionKey(config: Config): Promise<Finding> {
  const encryptionKeys = encryptionKeysOf(config);
  const { place } = encryptionKeys;
  try {
    const keys = encryptionKeys.read();
    const { rows, fromBefore, others } = await stateOf(config);
    unwrapAll(rows, keys, place);
    const [first] = keys;
    if (!first) return withoutKey(config, encryptionKeys, fromBefore);
    if (fromBefore)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}, but the secrets in the database are not encrypted yet: run "tradewind keys rotate" once no process of an older release runs on the database`,
      );
    const former = rows.find((row) => row.encryption_key_id !== first.id)?.encryption_key_id;
    if (former !== undefined)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; the secrets in the database still need ${former}, which is also there: keep it until "tradewind keys rotate" has run`,
      );
    if (rows[0]?.completed_at === null)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; some secrets are not encrypted with the newest data key yet: "tradewind keys rotate" is still running, or has to be run again once every process has this key`,
      );
    if (others.length > 0)
      return limited(
        ENCRYPTION_KEY,
        `${first.id}, in ${place}; these secrets are not encrypted with the newest data key: ${others.join(', ')}. "tradewind keys rotate" encrypts those that a process without the key wrote, and names those that no key reads`,
      );
    return ok(ENCRYPTION_KEY, `${first.id}, in ${place}. ${LOSS}`);
  } catch (error) {
    return missing(ENCRYPTION_KEY, (error as Error).message);
  }
}

function withoutKey(config: Config, encryptionKeys: EncryptionKeys, fromBefore: boolean): Finding {
  const { place } = encryptionKeys;
  if (config.databaseUrl !== undefined) {
    return fromBefore
      ? limited(
          ENCRYPTION_KEY,
          `none (no ${place}), so the secrets in the database are not encrypted; see docs/secrets.md`,
        )
      : missing(ENCRYPTION_KEY, keyNeeded(encryptionKeys));
  }
  return hasDatabase(config)
    ? limited(ENCRYPTION_KEY, `none (no ${place}); the next start creates one, unless the database already had one`)
    : ok(ENCRYPTION_KEY, `created at the first start, in ${place}. ${LOSS}`);
}

/**
 * Returns no keys and no secrets if the database has no schema yet or can't be reached, which is reported elsewhere.
 */
async function stateOf(config: Config): Promise<{ rows: WrappedKey[]; fromBefore: boolean; others: string[] }> {
  const nothing = { rows: [], fromBefore: false, others: [] };
  const connection = runningDatabase(config);
  if (!connection) return nothing;
  const database = openDatabase(connection, 1);
  try {
    const rows = await wrappedKeys(database.sql);
    const [newest] = rows;
    if (!newest) return { ...nothing, fromBefore: !(await isFresh(database.sql)) };
    const counts = await countOthers(database.sql, newest.id);
    return { ...nothing, rows, others: [...counts].map(([column, count]) => `${column}: ${count}`) };
  } catch {
    return nothing;
  } finally {
    await database.close();
  }
}

const WHAT = 'Mail';

/** Reports where mails go, and whether the server takes them. */
export async function mailFinding(config: Config): Promise<Finding> {
  const { smtpUrl, folder, from, publicUrl } = config.mail;
  try {
    letterheadOf(config);
  } catch (error) {
    return missing(WHAT, (error as Error).message);
  }
  if (smtpUrl === undefined) {
    return limited(WHAT, `put into ${folder} and not sent; set TRADEWIND_SMTP_URL (docs/accounts.md)`);
  }
  // Never the whole URL, which has a password.
  const { protocol, host } = new URL(smtpUrl);
  const where = `${protocol}//${host}, from ${from}`;
  const outlet = smtpOutlet(smtpUrl);
  try {
    await outlet.verify();
  } catch (error) {
    return limited(WHAT, `${where}: ${faultOf(error)}`);
  } finally {
    outlet.close();
  }
  return publicUrl === undefined
    ? limited(WHAT, `${where}, with tokens instead of links; set TRADEWIND_PUBLIC_URL (docs/accounts.md)`)
    : ok(WHAT, where);
}
