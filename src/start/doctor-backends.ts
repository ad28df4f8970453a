import type { PoolConfig } from 'pg';
import { pino } from 'pino';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import { troubleOf } from '../backends/health.ts';
import type { Makers } from '../backends/maker.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { compare } from '../convergence/orphans.ts';
import { connectionTo } from '../db/connection.ts';
import { openDatabase } from '../db/database.ts';
import { runningEmbedded } from '../db/embedded/socket.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets } from '../secrets/secrets.ts';
import { type Finding, limited, missing, ok } from './finding.ts';
import { hostOf } from './host.ts';

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
        const fault = answers ? await faultOf(named) : undefined;
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

  /** Returns what is wrong with the things that the backend has. */
  async function faultOf(named: NamedBackend): Promise<string | undefined> {
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
