import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { expect, vi } from 'vitest';
import type { Makers } from '../../src/backends/maker.ts';
import { loadConfig } from '../../src/config.ts';
import type { Clock } from '../../src/lib/time.ts';
import { createLog } from '../../src/log.ts';
import { startPlatform } from '../../src/start/platform.ts';
import { createDatabase } from './databases.ts';
import { createHttpClient, type HttpClient, SOON } from './http-client.ts';
import { ENCRYPTION_KEY } from './secrets.ts';

export interface TestService {
  url: string;
  /** Uses the token of the platform administrator, who has client 1, project 1 and reseller 1. */
  http: HttpClient;
  /** Sends no credentials. */
  anonymous: HttpClient;
  /** For looking at what the API doesn't show. */
  pool: pg.Pool;
  /** Makes another account of the same reseller, with its own project. */
  otherTenant(): Promise<Tenant>;
  /** Makes a token of the first account with another role: `Users`, `Engineers`, ... */
  withRole(role: string): Promise<HttpClient>;
  stop(): Promise<void>;
}

/** The folder of the mails of borrowed services. It is removed when one is given back. */
const MAILS = path.join(os.tmpdir(), `mails-${randomBytes(8).toString('hex')}`);
const idle: TestService[] = [];
/** A worker may be about to write the last mail. */
const REMOVING = { recursive: true, force: true, maxRetries: 10 };

/**
 * Returns a service that was started for an earlier file, as new: all it had is taken back, by the reset that users' tests have.
 * That takes an eighth of a start. `stop` gives it back. What goes on through a reset (events, numbers of records, the
 * catalogue, metrics, counts of refusals) needs a service of its own.
 */
export async function borrowService(): Promise<TestService> {
  const known = idle.pop();
  const service = known ?? (await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_MAIL_DIR: MAILS }));
  if (known) {
    const reset = await service.http.post('/tradewind/v1/test/reset', { scope: 'all' });
    expect(reset.status, reset.text).toBe(204);
    // Nothing was heard of it while a file kept this process busy.
    await vi.waitFor(async () => expect((await service.anonymous.get('/readyz')).status).toBe(200), SOON);
  }
  return {
    ...service,
    async stop() {
      await fs.rm(MAILS, REMOVING);
      idle.push(service);
    },
  };
}

export interface Tenant {
  clientId: number;
  projectId: number;
  http: HttpClient;
}

/**
 * Starts a whole Tradewind over HTTP, on its own database. Simulated work runs 1000 times as fast: what takes minutes is done
 * at once. A process has room for one worker.
 */
export async function startService(
  settings: Record<string, string> = {},
  { log, role = 'all', makers, clock }: { log?: Logger; role?: 'all' | 'api'; makers?: Makers; clock?: Clock } = {},
): Promise<TestService> {
  const database = await createDatabase();
  const token = `1_${randomBytes(16).toString('hex')}`;
  const mailDir = path.join(os.tmpdir(), `mails-${randomBytes(8).toString('hex')}`);
  const config = loadConfig({
    TRADEWIND_PORT: '0',
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_MAIL_DIR: mailDir,
    TRADEWIND_BOOTSTRAP_TOKEN: token,
    TRADEWIND_LOG_LEVEL: 'warn',
    TRADEWIND_SIMULATION_SPEED: '1000',
    // AI tasks stay as tests create them; tests that want them worked on override this.
    TRADEWIND_AI_CONCURRENCY: '0',
    DATABASE_URL: database.url,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    // PostgreSQL refuses rows of the next quarter of the log while its partition is being made, and a clock that leaps could write some.
    ...(clock && { TRADEWIND_LOG_KEPT_DAYS: '0' }),
    ...settings,
  });
  const platform = await startPlatform(config, role, log ?? createLog(config), {
    ...(makers && { makers }),
    ...(clock && { clock }),
  });
  const url = `http://127.0.0.1:${platform.address?.port}`;
  const http = createHttpClient(url, token);
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  // Dropping the database cuts off connections that are still closing.
  pool.on('error', () => {});

  async function tokenOf(clientId: number, role: { id?: number; name?: string }): Promise<HttpClient> {
    const made = await http.post(`/iam/v2/clients/${clientId}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role },
    });
    expect(made.status, made.text).toBe(200);
    return createHttpClient(url, made.body.token);
  }

  return {
    url,
    http,
    anonymous: createHttpClient(url, undefined),
    pool,
    async otherTenant() {
      const created = await http.post('/iam/clients/create', {
        company: `Other ${randomBytes(4).toString('hex')}`,
      });
      expect(created.status, created.text).toBe(201);
      const clientId: number = created.body.id;
      const tenant = await tokenOf(clientId, { name: 'Administrators' });
      const projects = await tenant.get('/cloud/v1/projects');
      return { clientId, projectId: projects.body.results[0].id, http: tenant };
    },
    withRole: (role) => tokenOf(1, { name: role }),
    async stop() {
      await platform.stop(1_000);
      await pool.end();
      await database.drop();
      await fs.rm(mailDir, REMOVING);
    },
  };
}
