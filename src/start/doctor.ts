import fs from 'node:fs';
import type { PoolConfig } from 'pg';
import pg from 'pg';
import { pino } from 'pino';
import { ANALYSIS_USERS, type ContainmentFinding, takeInventory } from '../../engines/index.ts';
import { findBinDirs, runningEmbedded, whyOpen } from '../../postgres/index.ts';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import { troubleOf } from '../backends/health.ts';
import type { Makers } from '../backends/maker.ts';
import { differenceTo, shortHash } from '../cloud/ground/catalog/in-force.ts';
import { sharedImageNames } from '../cloud/ground/catalog/readers.ts';
import { type Catalog, loadCatalog } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { compare } from '../convergence/orphans.ts';
import { openDatabase } from '../db/database.ts';
import { readSchema, requireFit } from '../db/schema.ts';
import { OperatorError } from '../lib/errors.ts';
import { existingFolder } from '../lib/secret-file.ts';
import { faultOf, smtpOutlet } from '../mail/sending/outlets.ts';
import { unwrapAll, type WrappedKey, wrappedKeys } from '../secrets/data-keys.ts';
import { type EncryptionKeys, encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { isFresh, keyNeeded } from '../secrets/preparation.ts';
import { createSecrets } from '../secrets/secrets.ts';
import { countOthers } from '../secrets/sweep.ts';
import { aiContainment, engineSettings } from './ai-worker.ts';
import type { Command } from './command.ts';
import { letterheadOf } from './mail.ts';
import { hostOf, MAKERS } from './makers.ts';
import { printAnswer } from './operator.ts';
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
    // Before the first start or without a connection, which is reported elsewhere, there is nothing to
    // compare with.
    const answers = connection !== undefined && (await hasWants());
    return await Promise.all(
      backends.all().map(async (named) => {
        const trouble = await troubleOf(named.backend, log);
        const what = `Backend ${named.name}`;
        if (trouble !== undefined) return missing(what, trouble);
        const has = named.backend.about?.();
        const detail = `of the kind ${catalog.backends.get(named.name)?.kind}${has === undefined ? '' : `; ${has}`}`;
        const fault = answers ? await orphansIn(named) : undefined;
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

  /** Says which things the backend has that nobody wants, or why it could not list them. */
  async function orphansIn(named: NamedBackend): Promise<string | undefined> {
    const signal = AbortSignal.timeout(LIST_MS);
    try {
      const { orphans } = await compare({ sql, log, signal }, named);
      return orphans.length > 0
        ? 'it has resources that nobody wants: "tradewind orphans list" shows them'
        : undefined;
    } catch (error) {
      const why = signal.aborted ? `no answer within ${LIST_MS / 1_000} s` : (error as Error).message;
      return `it could not list its resources: ${why}`;
    }
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
    ? limited(
        ENCRYPTION_KEY,
        `none (no ${place}); the next start creates one, unless the database already had one`,
      )
    : ok(ENCRYPTION_KEY, `created at the first start, in ${place}. ${LOSS}`);
}

/**
 * Returns no keys and no secrets if the database has no schema yet or can't be reached, which is reported
 * elsewhere.
 */
async function stateOf(
  config: Config,
): Promise<{ rows: WrappedKey[]; fromBefore: boolean; others: string[] }> {
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

const SIGNS = { ok: 'ok      ', limited: 'limited ', missing: 'MISSING ' } as const;

export const doctor: Command = {
  summary: 'show what is installed, what is missing and how to get it',
  help: '  Exits with 1 if something that "serve" needs is missing. Starts and changes nothing.\n',
  options: {},
  json: true,
  async run({ config, options }) {
    const findings = [
      nodeVersion(),
      user(),
      config.databaseUrl === undefined ? embeddedDatabase() : await ownDatabase(config.databaseUrl),
      config.databaseUrl === undefined ? undefined : await schemaOf(config.databaseUrl),
      config.databaseUrl === undefined ? dataFolder(config.dataDir) : undefined,
      await encryptionKey(config),
      await mailFinding(config),
      ...(await catalog(config)),
      ...(await aiEngines(config)),
    ].filter((finding) => finding !== undefined);
    const text = findings.map(({ what, state, detail }) => `${SIGNS[state]} ${what}: ${detail}`).join('\n');
    printAnswer({ text, data: findings }, options);
    return findings.some(({ state }) => state === 'missing') ? 1 : 0;
  },
};

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  const { node } = process.versions;
  return enough ? ok('Node', node) : missing('Node', `${node}; install Node 20.19 or newer`);
}

/** Only applies to root. */
function user(): Finding | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return limited(
    'User',
    'root: an attacker who breaks into Tradewind then controls the whole machine; run it as its own user (useradd --system --create-home tradewind)',
  );
}

function embeddedDatabase(): Finding {
  const [folder] = findBinDirs();
  return folder === undefined
    ? missing(
        'PostgreSQL',
        'none for this platform; run "npm ci" without --omit=optional, install one (Debian: apt-get install postgresql), or set DATABASE_URL',
      )
    : ok('PostgreSQL', `embedded, from ${folder}`);
}

async function ownDatabase(connectionString: string): Promise<Finding> {
  const what = 'PostgreSQL of DATABASE_URL';
  const client = new pg.Client({ ...connectionTo(connectionString), connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; number: number; trgm: boolean; create: boolean }>(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
              exists (select from pg_available_extensions where name = 'pg_trgm') as trgm,
              has_database_privilege(current_database(), 'CREATE') as create`,
    );
    const found = rows[0];
    if (!found) return missing(what, 'it does not answer queries');
    if (found.number < 150_000) return missing(what, `version ${found.version}; 15 or newer is needed`);
    if (!found.trgm)
      return missing(
        what,
        'the extension pg_trgm is not installed (Debian: apt-get install postgresql-contrib)',
      );
    if (!found.create)
      return missing(what, 'the role may not create schemas; make it the owner of the database');
    return ok(what, `version ${found.version}`);
  } catch (error) {
    return missing(what, (error as Error).message || String((error as { code?: string }).code));
  } finally {
    await client.end().catch(() => {});
  }
}

async function schemaOf(databaseUrl: string): Promise<Finding | undefined> {
  const what = 'Schema';
  const database = openDatabase(connectionTo(databaseUrl), 1);
  try {
    const schema = await readSchema(database.sql);
    if (schema.empty) return ok(what, 'created at the first start');
    requireFit(schema);
    return ok(
      what,
      schema.later.length > 0 ? 'from a later release, which this one can work with' : 'up to date',
    );
  } catch (error) {
    // An unreachable database is reported elsewhere.
    return error instanceof OperatorError ? missing(what, error.message) : undefined;
  } finally {
    await database.close();
  }
}

function dataFolder(dataDir: string): Finding {
  const what = 'Data folder';
  const folder = existingFolder(dataDir);
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    if (folder !== dataDir) return ok(what, `${dataDir} (created at the first start)`);
    const problem = whyOpen(folder);
    return problem === undefined ? ok(what, dataDir) : missing(what, problem);
  } catch {
    return missing(what, `this user may not write to ${folder}; choose another with TRADEWIND_DATA_DIR`);
  }
}

async function catalog(config: Config): Promise<Finding[]> {
  try {
    const read = await loadCatalog(config.catalogDir, MAKERS);
    const difference = await differenceInForce(config, read);
    if (difference !== undefined) return [missing('Catalogue', difference)];
    const detail = `${shortHash(read.hash)}, ${read.regions.size} regions, from ${config.catalogDir}`;
    return [ok('Catalogue', detail), ...imageNames(read), ...(await backendFindings(config, read, MAKERS))];
  } catch (error) {
    return [missing('Catalogue', (error as Error).message)];
  }
}

/** Reports names by which Terraform users can't find an image. */
function imageNames(read: Catalog): Finding[] {
  const pairs = [...read.regions.keys()].flatMap((region) => sharedImageNames(read.images(region)));
  const texts = new Set(pairs.map(([shorter, longer]) => `${shorter} is the beginning of ${longer}`));
  if (texts.size === 0) return [];
  const detail = `the older Terraform provider finds images by the beginning of their names, and takes none of several; rename one in images.yaml: ${[...texts].join(', ')}`;
  return [limited('Image names', detail)];
}

/** Returns what keeps the catalogue from being in force: the processes on a shared database agree on one. */
async function differenceInForce(config: Config, read: Catalog): Promise<string | undefined> {
  if (config.databaseUrl === undefined) return undefined;
  const database = openDatabase(connectionTo(config.databaseUrl), 1);
  try {
    return await differenceTo(database, read, config.catalogDir);
  } catch {
    // Before the first start, or an unreachable database, which is reported elsewhere.
    return undefined;
  } finally {
    await database.close();
  }
}

/** Reports which AI tasks work, and what to do for more. */
async function aiEngines(config: Config): Promise<Finding[]> {
  const what = 'AI tasks';
  if (config.ai.concurrency === 0)
    return [limited(what, 'this process takes none (TRADEWIND_AI_CONCURRENCY is 0)')];
  try {
    const [{ media, speech, pictures }, containment] = await Promise.all([
      takeInventory(engineSettings(config)),
      aiContainment(config),
    ]);
    return [
      engine('Media for AI tasks', media.found?.description, media.missing),
      engine('Transcription', speech.found?.map((each) => each.description).join('; '), speech.missing),
      ...Object.entries(pictures).map(([category, picture]) =>
        engine(`Moderation, ${category}`, picture.found?.description, picture.missing),
      ),
      sandbox(containment, config),
    ];
  } catch (error) {
    return [missing(what, (error as Error).message)];
  }
}

function sandbox({ found, missing: why }: ContainmentFinding, { ai }: Config): Finding {
  const what = 'Sandbox of AI tasks';
  if (!found) {
    return ai.sandbox === 'required'
      ? missing(what, why)
      : limited(what, `${why}. This process takes no AI tasks`);
  }
  const asNobody = process.getuid?.() === 0 ? `, as unprivileged users (${ANALYSIS_USERS})` : '';
  return found.lacks === undefined
    ? ok(what, `bubblewrap${asNobody}`)
    : limited(what, `${found.lacks}. Analyses run with resource limits only${asNobody}`);
}

function engine(what: string, found: string | undefined, lacking: string | undefined): Finding {
  return found === undefined ? limited(what, lacking ?? 'not installed') : ok(what, found);
}
