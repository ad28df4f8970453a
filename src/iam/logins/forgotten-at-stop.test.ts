import { randomBytes } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { createDatabase } from '../../../test/support/databases.ts';
import { createHttpClient } from '../../../test/support/http-client.ts';
import { newPerson } from '../../../test/support/logins.ts';
import { ENCRYPTION_KEY } from '../../../test/support/secrets.ts';
import { loadConfig } from '../../config.ts';
import { createLog } from '../../log.ts';
import { startPlatform } from '../../start/platform.ts';

it('forgotten passwords that were reported are dealt with before the server has stopped', async () => {
  const database = await createDatabase();
  const token = `1_${randomBytes(16).toString('hex')}`;
  const config = loadConfig({
    TRADEWIND_PORT: '0',
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_BOOTSTRAP_TOKEN: token,
    TRADEWIND_LOG_LEVEL: 'error',
    DATABASE_URL: database.url,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
  });
  const platform = await startPlatform(config, 'api', createLog(config));
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  // Dropping the database cuts off connections that are still closing.
  pool.on('error', () => {});
  const url = `http://127.0.0.1:${platform.address?.port}`;
  // More than are dealt with at once.
  const people = [];
  for (let n = 0; n < 5; n++) people.push(await newPerson(createHttpClient(url, token)));
  const ids = people.map(({ userId }) => userId);
  const client = await pool.connect();
  await client.query('begin');
  await client.query('select from users where id = any($1) for update', [ids]);
  for (const { email } of people) {
    const answer = await createHttpClient(url, undefined).post('/iam/auth/password/forgot', { email });
    expect(answer.status, answer.text).toBe(200);
  }
  const stopped = platform.stop(30_000);
  const closed = () => fetch(url).then(String, () => 'closed');
  await expect.poll(closed).toBe('closed');
  await client.query('rollback');
  client.release();
  await stopped;
  const { rowCount } = await pool.query('select from password_resets where user_id = any($1)', [ids]);
  expect(rowCount).toBe(ids.length);
  await pool.end();
  await database.drop();
});
