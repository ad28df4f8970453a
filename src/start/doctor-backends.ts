import type { PoolConfig } from 'pg';
import { pino } from 'pino';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import { troubleOf } from '../backends/health.ts';
import type { Makers } from '../backends/maker.ts';
import type { Catalog } from '../cloud/catalog/catalog.ts';
import type { Config } from '../config.ts';
import { compare } from '../convergence/orphans.ts';
import { connectionTo } from '../db/connection.ts';
import { openDatabase } from '../db/database.ts';
import { runningEmbedded } from '../db/embedded/socket.ts';
import { type Finding, limited, missing, ok } from './finding.ts';

/** What a backend gets for the list of all that it has. */
const LIST_MS = 10_000;
const log = pino({ level: 'silent' });

/** How each backend of the catalogue is, and whether it has what nobody wants. */
export async function backendFindings(config: Config, catalog: Catalog, makers: Makers): Promise<Finding[]> {
  const connection = runningDatabase(config);
  // Without a database nothing is asked that needs one.
  const database = openDatabase(connection ?? {}, 2);
  const { sql } = database;
  try {
    const backends = createBackends(makers, { sql, simulationSpeed: config.simulationSpeed });
    backends.adopt(catalog);
    return await Promise.all(
      backends.all().map(async (named) => {
        const trouble = await troubleOf(named.backend, log);
        const what = `Backend ${named.name}`;
        if (trouble !== undefined) return missing(what, trouble);
        const detail = `of the kind ${catalog.backends.get(named.name)?.kind}`;
        return connection && (await hasOrphans(named))
          ? limited(what, `${detail}; it has what nobody wants: "tradewind orphans list"`)
          : ok(what, detail);
      }),
    );
  } catch (error) {
    return [missing('Backends', (error as Error).message)];
  } finally {
    await database.close();
  }

  async function hasOrphans(named: NamedBackend): Promise<boolean> {
    const comparing = compare({ sql, log, signal: AbortSignal.timeout(LIST_MS) }, named);
    // Before the first start, or out of reach, which is told apart.
    const { orphans } = await comparing.catch(() => ({ orphans: [] }));
    return orphans.length > 0;
  }
}

/** Where the database is; undefined for an embedded one that doesn't run. */
function runningDatabase({ databaseUrl, dataDir }: Config): PoolConfig | undefined {
  return databaseUrl === undefined ? runningEmbedded(dataDir) : connectionTo(databaseUrl);
}
