import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ANALYSIS_USERS, takeInventory } from '../../engines/index.ts';
import { findBinDirs, whyOpen } from '../../postgres/index.ts';
import { differenceTo, shortHash } from '../cloud/ground/catalog/in-force.ts';
import { sharedImageNames } from '../cloud/ground/catalog/readers.ts';
import { type Catalog, loadCatalog } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { readSchema, requireFit } from '../db/schema.ts';
import { OperatorError } from '../lib/errors.ts';
import { existingFolder } from '../lib/secret-file.ts';
import { aiContainment, engineSettings } from './ai-worker.ts';
import { catalogFindings } from './catalog-checks.ts';
import { encryptionKey, type Finding, limited, mailFinding, missing, ok } from './checks.ts';
import type { Command } from './command.ts';
import { MAKERS } from './from-settings.ts';
import { printAnswer } from './operator.ts';
import { connectionTo } from './storage.ts';

const SIGNS = { ok: 'ok      ', limited: 'limited ', missing: 'MISSING ' } as const;

export const doctor: Command = {
  summary: 'show what is installed, what is missing and how to get it',
  help: '  Exits with 1 if something that "serve" needs is missing. Starts and changes nothing.\n',
  options: {},
  json: true,
  async run({ config, options }) {
    const findings = await findingsOf(config);
    const text = findings.map(({ what, state, detail }) => `${SIGNS[state]} ${what}: ${detail}`).join('\n');
    printAnswer({ text, data: findings }, options);
    return findings.some(({ state }) => state === 'missing') ? 1 : 0;
  },
};

const PATIENCE_MS = 20_000;

/** Checks what a process with these settings needs. What gives no answer in time says so. */
export async function findingsOf(config: Config): Promise<Finding[]> {
  const asked = await Promise.all([
    databaseFindings(config),
    inTime('Encryption key', encryptionKey(config)),
    inTime('Mail', mailFinding(config)),
    inTime('Catalogue', catalog(config)),
    inTime('AI tasks', aiEngines(config)),
  ]);
  return [nodeVersion(), user(), ...asked.flat()].filter((finding) => finding !== undefined);
}

async function databaseFindings({ databaseUrl, dataDir }: Config): Promise<(Finding | undefined)[]> {
  if (databaseUrl === undefined) return [embeddedDatabase(), dataFolder(dataDir)];
  return Promise.all([
    inTime('PostgreSQL of DATABASE_URL', ownDatabase(databaseUrl)),
    inTime('Schema', schemaOf(databaseUrl)),
  ]);
}

async function inTime<Found>(what: string, looking: Promise<Found>): Promise<Found | Finding> {
  const late = new AbortController();
  const { signal } = late;
  const never = sleep(PATIENCE_MS, missing(what, `no answer within ${PATIENCE_MS / 1_000} s`), { signal });
  try {
    return await Promise.race([looking, never]);
  } finally {
    late.abort();
  }
}

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
      return missing(what, 'the extension pg_trgm is not installed (Debian: apt-get install postgresql-contrib)');
    if (!found.create) return missing(what, 'the role may not create schemas; make it the owner of the database');
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
    return ok(what, schema.later.length > 0 ? 'from a later release, which this one can work with' : 'up to date');
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
    return [ok('Catalogue', detail), ...imageNames(read), ...(await catalogFindings(config, read, MAKERS))];
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
  if (config.ai.concurrency === 0) return [limited(what, 'this process takes none (TRADEWIND_AI_CONCURRENCY is 0)')];
  try {
    const [{ media, speech, pictures }, isolation] = await Promise.all([
      takeInventory(engineSettings(config)),
      sandbox(config),
    ]);
    return [
      engine('Media for AI tasks', media.found?.description, media.missing),
      engine('Transcription', speech.found?.map((each) => each.description).join('; '), speech.missing),
      ...Object.entries(pictures).map(([category, picture]) =>
        engine(`Moderation, ${category}`, picture.found?.description, picture.missing),
      ),
      isolation,
    ];
  } catch (error) {
    return [missing(what, (error as Error).message)];
  }
}

async function sandbox(config: Config): Promise<Finding> {
  const what = 'Sandbox of AI tasks';
  const { found, missing: why } = await aiContainment(config);
  if (!found) {
    return config.ai.sandbox === 'required'
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
