import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, SOON } from '../support/http-client.ts';
import { anyEmail, invite } from '../support/logins.ts';
import { type MailServer, openMailServer, type ReceivedMail, refusal } from '../support/mail-server.ts';
import { issued, keyText } from '../support/tls-bundles.ts';
import { build, environment, ROOT, type ServeProcess, serve, takeForDead, temporaryFolder } from './processes.ts';

const TOKEN = '7$acceptance-secret';
const USER = 'tradewind@example.com';
const PASSWORD = 'p@ss/word';

const folder = temporaryFolder();
let database: TestDatabase;
let pool: pg.Pool;
let server: MailServer;
let settings: Record<string, string>;
let running: ServeProcess | undefined;
beforeAll(async () => {
  build();
  database = await createDatabase({ empty: true });
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const authority = await issued({ name: 'authority' });
  const host = await issued({ name: 'localhost', by: authority, ca: false });
  const trusted = path.join(folder, 'authority.pem');
  fs.writeFileSync(trusted, authority.pem);
  server = await openMailServer({
    key: await keyText(host),
    cert: host.pem,
    authMethods: ['PLAIN'],
    onAuth: ({ username, password }, _session, done) =>
      username === USER && password === PASSWORD
        ? done(null, { user: username })
        : done(refusal(535, 'Wrong password')),
  });
  settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: folder,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SMTP_URL: url(PASSWORD),
    TRADEWIND_MAIL_FROM: 'noreply@example.com',
    TRADEWIND_LOG_LEVEL: 'warn',
    NODE_EXTRA_CA_CERTS: trusted,
  };
});
afterAll(async () => {
  await running?.end('SIGKILL');
  await server?.stop();
  await pool?.end();
  await database?.drop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const url = (password: string) =>
  `smtp://${encodeURIComponent(USER)}:${encodeURIComponent(password)}@localhost:${server.port}`;

async function restart(more: Record<string, string> = {}): Promise<ServeProcess> {
  if (running) {
    expect(await running.end('SIGKILL')).toBe('SIGKILL');
    await takeForDead(pool, running);
  }
  running = await serve({ ...settings, ...more });
  return running;
}

/** Leaves this process free to answer as the mail server. */
async function doctor(more: Record<string, string> = {}): Promise<string> {
  const options = { cwd: ROOT, env: environment({ ...settings, ...more }) };
  return (await promisify(execFile)('node', ['dist/src/main.js', 'doctor'], options)).stdout;
}

/** Waits for a mail, but not for the time of its next attempt. */
async function soonTo(address: string): Promise<ReceivedMail> {
  const hurrying = setInterval(
    () => void pool.query('update mails set due_at = now() where due_at > now() and worker_id is null'),
    250,
  );
  return server.mailTo(address).finally(() => clearInterval(hurrying));
}

const host = () => ({ http: createHttpClient(running?.url ?? '', TOKEN), clientId: 1 });

it('sends what was accepted before it was killed, over TLS and with a login', async () => {
  server.refuse = () => refusal(451, 'Not now');
  await restart();
  const emails = Array.from({ length: 8 }, anyEmail);
  const tokens: string[] = [];
  for (const email of emails) tokens.push((await invite(host(), email)).invitation_token);
  server.refuse = () => undefined;
  await restart();
  for (const [index, email] of emails.entries()) {
    const { secure, user, mail } = await soonTo(email);
    expect([secure, user]).toEqual([true, USER]);
    expect(mail.text).toContain(tokens[index]);
  }
});

it('keeps a mail when the password is wrong or the server is not trusted, and says so without it', async () => {
  const email = anyEmail();
  let now = await restart({ TRADEWIND_SMTP_URL: url('wrong-one') });
  const { invitation_token: token } = await invite(host(), email);
  await vi.waitFor(() => expect(now.stderr()).toContain('535'), SOON);
  expect(await doctor({ TRADEWIND_SMTP_URL: url('wrong-one') })).toMatch(
    /limited {2}Mail: smtp:\/\/localhost:\d+, from noreply@example\.com: .*535/,
  );
  for (const secret of ['wrong-one', token.split('_')[2]]) expect(now.stderr()).not.toContain(secret);
  now = await restart({ NODE_EXTRA_CA_CERTS: '' });
  const other = anyEmail();
  await invite(host(), other);
  await vi.waitFor(() => expect(now.stderr()).toMatch(/self.signed certificate|unable to verify/), SOON);
  await restart();
  await soonTo(other);
  await soonTo(email);
  expect(await doctor()).toContain('Mail: smtp://localhost');
});
