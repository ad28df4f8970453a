import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { HOUR_MS, notAtTheEndOf } from '../../test/support/clock.ts';
import { SOON } from '../../test/support/http-client.ts';
import { anyEmail, bearer, comes, invite, logIn, newPerson, PASSWORD, type Person } from '../../test/support/logins.ts';
import { type MailServer, openMailServer, refusal } from '../../test/support/mail-server.ts';
import { addReseller } from '../../test/support/reseller.ts';
import { addApp } from '../../test/support/second-factors.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { openReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { KIND_NAMES } from './kinds.ts';

const FROM = 'noreply@cloud.example.com';
const RESET = '/tradewind/v1/password_reset';

let server: MailServer;
let receiver: WebhookReceiver;
let service: TestService;
let boss: Person;
beforeAll(async () => {
  [server, receiver] = await Promise.all([openMailServer(), openReceiver()]);
  service = await startService({
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: receiver.host,
    TRADEWIND_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    TRADEWIND_MAIL_FROM: FROM,
    TRADEWIND_PUBLIC_URL: 'https://cloud.example.com/console/',
    TRADEWIND_LOG_LEVEL: 'silent',
  });
  await service.pool.query(`update resellers set name = 'Clouds & Co' where id = 1`);
  boss = await newPerson(service.http, { company: 'Acme <GmbH>' });
});
afterAll(async () => {
  await service?.stop();
  await server.stop();
  receiver.stop();
});
afterEach(() => server.forget());

/** Lets mails that wait for another attempt be tried now. */
const hurry = () => service.pool.query(`update mails set due_at = now() where due_at is not null`);
const stateOf = async (to: string) => {
  const { rows } = await service.pool.query(
    'select kind, state, attempts, fault, data from mails where receiver = $1 order by id',
    [to],
  );
  return rows;
};
const previewOf = (reseller: number, type: string) => `/tradewind/v1/resellers/${reseller}/notification_mails/${type}`;
const forget = (email: string) => service.anonymous.post('/iam/auth/password/forgot', { email });

describe('an invitation', () => {
  it('is mailed, with a link to accept it', async () => {
    const email = anyEmail();
    const { invitation_token: token } = await invite(boss, email);
    const { from, to, mail } = await server.mailTo(email);
    expect([from, to]).toEqual([FROM, [email]]);
    expect(mail.from).toEqual({ name: 'Clouds & Co', address: FROM });
    expect(mail.subject).toBe('Acme <GmbH> invites you to Clouds & Co');
    const link = `https://cloud.example.com/console/accept-invitation#token=${token}`;
    expect(mail.text).toContain(`${link}\n`);
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.html).toContain('<b>Acme &lt;GmbH&gt;</b>');
    expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    const accepted = await service.anonymous.post('/iam/auth/accept_invitation', {
      token,
      password: PASSWORD,
    });
    expect(accepted.status).toBe(200);
  });

  it('is mailed again when it is renewed', async () => {
    const email = anyEmail();
    await invite(boss, email);
    await server.mailTo(email);
    server.forget();
    const { body } = await boss.http.post('/iam/auth/renew_invitation', { email });
    const { mail } = await server.mailTo(email);
    expect(mail.text).toContain(body.invitations[0].invitation_token);
  });

  it('does not let names write headers or links', async () => {
    const evil = await newPerson(service.http, {
      company: 'Evil\r\nBcc: victim@example.com\r\n\r\nsee https://evil.example.com/ now',
    });
    const email = anyEmail();
    await invite(evil, email);
    const { to, mail, raw } = await server.mailTo(email);
    expect(to).toEqual([email]);
    expect(mail.subject).toContain('Evil Bcc: victim@example. com see https evil. example. com/ now');
    expect(mail.bcc).toBeUndefined();
    expect(raw).not.toMatch(/^Bcc:/im);
    expect(mail.text).not.toContain('https://evil');
  });

  it('does not let names hide text from the filter, or be domains that become links', async () => {
    const hidden = Buffer.from('log in at hidden.example').toString('base64');
    const evil = await newPerson(service.http, { company: `=?utf-8?B?${hidden}?= or www.bare.example` });
    const email = anyEmail();
    await invite(evil, email);
    const { mail } = await server.mailTo(email);
    for (const text of [mail.subject, mail.text, mail.html]) {
      expect(text).toContain('www. bare. example');
      expect(text).not.toContain('hidden.example');
    }
  });

  it('is mailed to one address only so often', async () => {
    const email = anyEmail();
    await invite(boss, email);
    for (let more = 0; more < 7; more++)
      expect((await boss.http.post('/iam/auth/renew_invitation', { email })).status).toBe(200);
    expect(await stateOf(email)).toHaveLength(5);
  });

  it('is mailed from one account only so often', async () => {
    const other = await newPerson(service.http);
    await service.pool.query(
      `insert into mails (id, kind, receiver, client_id, state, expires_at, created_at, ended_at)
       select gen_random_uuid(), 'invitation', number || '@example.com', $1, 'sent', now(), now(), now()
       from generate_series(1, 199) as number`,
      [other.clientId],
    );
    const [last, more] = [anyEmail(), anyEmail()];
    await invite(other, last);
    await invite(other, more);
    expect([(await stateOf(last)).length, (await stateOf(more)).length]).toEqual([1, 0]);
  });
});

describe('a forgotten password', () => {
  it('is set with the token of a mail, once, which ends all logins', async () => {
    const user = await newPerson(service.http);
    await forget(user.email);
    const { mail } = await server.mailTo(user.email, 'new password');
    const [, token] = /reset-password#token=(reset_\d+_[0-9a-f]{64})\n/.exec(mail.text ?? '') ?? [];
    const password = 'few large red apples';
    const changed = await service.anonymous.post(RESET, { token, password });
    expect([changed.status, changed.text]).toEqual([204, '']);
    expect((await user.http.get('/iam/users/me')).status).toBe(401);
    await logIn(service.anonymous, user.email, password);
    const again = await service.anonymous.post(RESET, { token, password });
    expect([again.status, again.body.errors[0].field]).toEqual([400, 'token']);
  });

  it('is mailed once an hour, and to nobody who is unknown or whose password an administrator may not ask for', async () => {
    const user = await newPerson(service.http);
    await forget(user.email);
    await server.mailTo(user.email);
    await forget(user.email);
    const other = await newPerson(service.http);
    const asked = await other.http.post('/iam/auth/reset_password', { email: user.email });
    expect(asked.status).toBe(404);
    const stranger = anyEmail();
    await forget(stranger);
    expect(await stateOf(user.email)).toHaveLength(1);
    expect(await stateOf(stranger)).toEqual([]);
  });

  it('is mailed to a user for whom an administrator asks', async () => {
    const user = await newPerson(service.http);
    expect((await user.http.post('/iam/auth/reset_password', { email: user.email })).status).toBe(200);
    await server.mailTo(user.email, 'new password');
  });

  it.each([
    ['the password was changed since', `password_requested_at = null`],
    ['the address was changed since', `email_changed_at = now()`],
    ['the user is deleted', `deleted_at = now()`],
  ])('is not set if %s', async (_why, change) => {
    const user = await newPerson(service.http);
    await forget(user.email);
    const { mail } = await server.mailTo(user.email);
    const [token] = /reset_\d+_[0-9a-f]{64}/.exec(mail.text ?? '') ?? [];
    await service.pool.query(`update users set ${change} where id = $1`, [user.userId]);
    expect((await service.anonymous.post(RESET, { token, password: PASSWORD })).status).toBe(400);
  });

  it('is not set after two hours, with a short password, or with the token of another', async () => {
    const user = await newPerson(service.http);
    await forget(user.email);
    const { mail } = await server.mailTo(user.email);
    const [token = ''] = /reset_\d+_[0-9a-f]{64}/.exec(mail.text ?? '') ?? [];
    const status = async (body: object) => (await service.anonymous.post(RESET, body)).status;
    expect(await status({ token, password: 'short' })).toBe(400);
    expect(await status({ token: token.replace(/_\d+_/, `_${boss.userId}_`), password: PASSWORD })).toBe(400);
    expect(await status({ token: token.replace('reset', 'invitation'), password: PASSWORD })).toBe(400);
    await service.pool.query(`update password_resets set expires_at = now() where user_id = $1`, [user.userId]);
    expect(await status({ token, password: PASSWORD })).toBe(400);
  });
});

describe('a login', () => {
  const LOGIN = '/iam/auth/jwt/login';
  const fail = async (user: Person) => {
    const answer = await service.anonymous.post(LOGIN, { username: user.email, password: 'wrong password' });
    expect(answer.status).toBe(400);
  };

  it('from a new address is mailed to the user, and none from a known one', async () => {
    const user = await newPerson(service.http);
    await logIn(service.anonymous, user.email);
    expect(await stateOf(user.email)).toEqual([]);
    await service.pool.query(`update login_attempts set address = '203.0.113.9' where user_id = $1`, [user.userId]);
    const headers = { 'user-agent': 'Lynx/2.9' };
    const body = { username: user.email, password: PASSWORD };
    expect((await service.anonymous.request('POST', LOGIN, { body, headers })).status).toBe(200);
    const { mail } = await server.mailTo(user.email, 'from a new address');
    expect(mail.text).toMatch(/Address: 127\.0\.0\.1\nProgram: Lynx\/2\.9\n/);
    await logIn(service.anonymous, user.email);
    expect(await stateOf(user.email)).toHaveLength(1);
  });

  it('that failed is mailed to those whom the settings of the reseller name, once an hour for each user', async () => {
    const reseller = await addReseller(service, 'Watchful');
    const user = await newPerson(reseller.http);
    const [told, ...others] = [anyEmail(), anyEmail(), anyEmail(), anyEmail()] as const;
    const set = async (by: typeof reseller, notification_type: string, email: string, enabled = true) => {
      const path = `/iam/reselling/resellers/${by.resellerId}/notification_settings`;
      const made = await by.http.post(path, { notification_type, email, enabled });
      expect(made.status, made.text).toBe(201);
      return made.body.id;
    };
    const id = await set(reseller, 'failed_login', told);
    await set(reseller, 'failed_login', told);
    await set(reseller, 'failed_login', others[0], false);
    await set(reseller, 'deletion_request', others[1]);
    await set(await addReseller(service, 'Unconcerned'), 'failed_login', others[2]);
    await notAtTheEndOf(HOUR_MS);
    await fail(user);
    await fail(user);
    const { mail } = await server.mailTo(told);
    expect(mail.subject).toBe(`Failed login of ${user.email}`);
    expect(mail.from?.name).toBe('Watchful');
    expect(mail.text).toContain('Address: 127.0.0.1\n');
    const unsubscribe = mail.headers.find(({ key }) => key === 'list-unsubscribe');
    expect(unsubscribe?.value.replace(/[0-9a-f]{64}/, 'KEY')).toBe(
      `<https://cloud.example.com/console/notification-settings#token=subscription_${id}_KEY>`,
    );
    expect(await stateOf(told)).toHaveLength(1);
    for (const address of others) expect(await stateOf(address)).toEqual([]);
    const { body } = await reseller.http.get(previewOf(reseller.resellerId, 'failed_login'));
    expect(body).toMatchObject({ from: FROM, subject: 'Failed login of jo@example.com' });
    expect(body.text).toMatch(/setting 1 of\s+Watchful/);
    const linesOf = (text = '') => text.trimEnd().split('\n').length;
    expect([linesOf(body.text), linesOf(body.html)]).toEqual([linesOf(mail.text), linesOf(mail.html)]);
  });

  it('with a second factor is mailed once that was right, and a wrong one as a wrong password is', async () => {
    const reseller = await addReseller(service, 'Careful');
    const user = await newPerson(reseller.http);
    const told = anyEmail();
    const settings = `/iam/reselling/resellers/${reseller.resellerId}/notification_settings`;
    await reseller.http.post(settings, { notification_type: 'failed_login', email: told, enabled: true });
    const { codes } = await addApp(user);
    await service.pool.query(`update login_attempts set address = '203.0.113.9' where user_id = $1`, [user.userId]);
    const kinds = async () => (await stateOf(user.email)).map(({ kind }) => kind);
    const answer = async (shown: object) => {
      const { body } = await service.anonymous.post(LOGIN, { username: user.email, password: PASSWORD });
      return service.anonymous.post('/tradewind/v1/logins/second_factor', { challenge: body.challenge, ...shown });
    };
    const attempts = async () => {
      const { body } = await user.http.get('/iam/activity_log/logins');
      return body.result.map((one: Record<string, unknown>) => [one.auth_type, one.is_successful]);
    };
    const before = await attempts();
    await notAtTheEndOf(HOUR_MS);
    expect((await answer({ code: '000000' })).status).toBe(400);
    expect((await answer({ recovery_code: 'abcd-efgh-jkmn-pqrs' })).status).toBe(400);
    const { mail } = await server.mailTo(told);
    expect(mail.subject).toBe(`Failed login of ${user.email}`);
    expect(await stateOf(told)).toHaveLength(1);
    const failed = [['recovery_code', false], ['totp', false], ...before];
    expect([await attempts(), await kinds()]).toEqual([failed, ['second_factor']]);
    expect((await answer({ recovery_code: codes[0] })).status).toBe(200);
    expect(await attempts()).toEqual([['recovery_code', true], ...failed]);
    expect(await kinds()).toEqual(['second_factor', 'new_login']);
  });
});

describe('the deletion of an account', () => {
  const PATH = '/tradewind/v1/deletion_request';

  it('is asked for and taken back, which its reseller is told', async () => {
    const reseller = await addReseller(service, 'Letting go');
    const user = await newPerson(reseller.http, { company: 'Leaving' });
    const email = anyEmail();
    await reseller.http.post(`/iam/reselling/resellers/${reseller.resellerId}/notification_settings`, {
      notification_type: 'deletion_request',
      email,
    });
    const none = { client_id: user.clientId, requested_at: null, user_id: null, reason: null, confirmed_at: null };
    expect((await user.http.get(PATH)).body).toEqual(none);
    const asked = await user.http.post(PATH, { reason: 'We have\nmoved' });
    expect([asked.status, asked.body]).toEqual([
      201,
      {
        client_id: user.clientId,
        requested_at: expect.any(String),
        user_id: user.userId,
        reason: 'We have\nmoved',
        confirmed_at: null,
      },
    ]);
    expect((await user.http.get(PATH)).body).toEqual(asked.body);
    expect((await user.http.post(PATH, {})).status).toBe(409);
    const { mail } = await server.mailTo(email, 'Leaving asks to be deleted');
    expect(mail.text).toContain(`${user.email} asks you to delete the account of Leaving.`);
    expect(mail.text).toContain('Reason: We have moved\n');
    expect(mail.headers.some(({ key }) => key === 'list-unsubscribe')).toBe(true);
    const colleague = anyEmail();
    await comes(user, colleague, { id: 5 });
    const engineer = bearer(service.url, await logIn(service.anonymous, colleague));
    const other = await newPerson(service.http);
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? { body: {} } : {};
      expect((await engineer.request(method, PATH, body)).status).toBe(403);
      expect((await service.anonymous.request(method, PATH, body)).status).toBe(401);
    }
    expect((await other.http.get(PATH)).body.requested_at).toBeNull();
    expect((await other.http.delete(PATH)).status).toBe(204);
    expect((await user.http.delete(PATH)).status).toBe(204);
    expect((await user.http.get(PATH)).body).toEqual(none);
    await server.mailTo(email, 'Leaving no longer asks to be deleted');
    expect(await stateOf(email)).toHaveLength(2);
  });
});

describe('a quota that is nearly used up', () => {
  const quotas = (user: Person) => `/cloud/v2/client_quotas/${user.clientId}`;

  it('is mailed to the administrators when the threshold is passed, once a day', async () => {
    const user = await newPerson(service.http, { company: 'Growing' });
    const [colleague, engineer] = [anyEmail(), anyEmail()];
    await comes(user, colleague, { id: 1 });
    await comes(user, engineer, { id: 5 });
    const limits = { firewall_count_limit: 5 };
    const limited = await service.http.patch(`/cloud/v2/regional_quotas/${user.clientId}/1`, limits);
    expect(limited.status, limited.text).toBe(200);
    await user.http.put(`${quotas(user)}/notification_threshold`, { threshold: 60 });
    const projects = await user.http.get('/cloud/v1/projects');
    const groups = `/cloud/v1/securitygroups/${projects.body.results[0].id}/1`;
    const make = async (name: string) => {
      const made = await user.http.post(groups, { security_group: { name } });
      expect(made.status, made.text).toBeLessThan(300);
      return made.body.id;
    };
    await make('one');
    await make('two');
    const last = await make('three');
    for (const address of [user.email, colleague]) {
      const { mail } = await server.mailTo(address, 'Growing has used 60 % of a quota');
      expect(mail.text).toContain('Growing uses 3 of 5 of the quota firewall_count in region 1.');
    }
    await user.http.delete(`${groups}/${last}`);
    await make('again');
    await vi.waitFor(async () => {
      const { body } = await user.http.get(`${quotas(user)}/notification_threshold`);
      const told = { limit: 5, usage: 3 };
      expect(body.last_message).toEqual({
        global_quotas: {},
        regional_quotas: [
          {
            region_id: 1,
            region_name: 'Port Halden',
            firewall_count_limit: told,
            firewall_count_usage: told,
          },
        ],
      });
      expect(Date.now() - Date.parse(body.last_sending)).toBeLessThan(600_000);
    }, SOON);
    expect((await stateOf(user.email)).map(({ kind }) => kind)).toEqual(['quota_nearly_used']);
    expect((await stateOf(engineer)).map(({ kind }) => kind)).toEqual(['invitation']);
  });

  it('may be one of the whole account', async () => {
    const user = await newPerson(service.http);
    const limited = await service.http.patch(`/cloud/v2/global_quotas/${user.clientId}`, {
      keypair_count_limit: 1,
    });
    expect(limited.status, limited.text).toBe(200);
    const projects = await user.http.get('/cloud/v1/projects');
    await user.http.post(`/cloud/v1/ssh_keys/${projects.body.results[0].id}`, { name: 'only' });
    const { mail } = await server.mailTo(user.email, 'has used 100 % of a quota');
    expect(mail.text).toContain('1 of 1 of the quota keypair_count.');
  });
});

it('a webhook that is disabled is mailed to the administrators', async () => {
  receiver.replyTo = () => ({ status: 410 });
  const user = await newPerson(service.http, { company: 'Listening' });
  const { body: webhook } = await user.http.post('/tradewind/v1/webhooks', {
    url: `${receiver.url}/in`,
    types: ['tradewind.ssh_key.*'],
  });
  const projects = await user.http.get('/cloud/v1/projects');
  await user.http.post(`/cloud/v1/ssh_keys/${projects.body.results[0].id}`, { name: 'one' });
  const { mail } = await server.mailTo(user.email, 'A webhook of Listening is disabled');
  expect(mail.text).toContain(`The receiver at ${receiver.host} answered that it wants no more events (410).`);
  expect(mail.text).toContain(`PATCH /tradewind/v1/webhooks/${webhook.id} and {"enabled": true}`);
});

it('a second factor that is added, removed or reset is mailed to the user', async () => {
  const user = await newPerson(service.http);
  const { id } = await addApp(user);
  const { mail } = await server.mailTo(user.email, 'What signs you in');
  expect(mail.text).toContain('A second factor was added to your login');
  expect(mail.text).toContain(': Phone');
  expect((await user.http.post(`/tradewind/v1/second_factors/${id}/remove`, { password: PASSWORD })).status).toBe(204);
  await vi.waitFor(async () => expect(await stateOf(user.email)).toHaveLength(2), SOON);
});

it('comes in each kind by what really happens', async () => {
  // A server has a mail before its row says that it was sent.
  await vi.waitFor(async () => {
    const { rows } = await service.pool.query(`select distinct kind from mails where state = 'sent'`);
    // They take time: see cloud/money.
    const expected = KIND_NAMES.filter((kind) => !['budget_reached', 'invoice'].includes(kind));
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(expected));
  }, SOON);
});

describe('a mail', () => {
  it('is encrypted while it waits, and forgotten when it was sent', async () => {
    const email = anyEmail();
    server.refuse = () => refusal(451, 'Try again later');
    const { invitation_token: token } = await invite(boss, email);
    const [, , secret] = token.split('_');
    const texts = async () =>
      (
        await service.pool.query(`select (select string_agg(mails::text, ' ') from mails) as mails,
          (select string_agg(user_actions::text, ' ') from user_actions) as log,
          (select string_agg(events::text, ' ') from events) as events`)
      ).rows[0];
    // An attempt counts when it begins.
    const fault = expect.stringContaining('451');
    await vi.waitFor(async () => expect(await stateOf(email)).toMatchObject([{ attempts: 1, fault }]), SOON);
    const [{ data }] = await stateOf(email);
    expect(data).toMatch(/^sealed:1:/);
    expect(JSON.stringify(await texts())).not.toContain(secret);
    server.refuse = () => undefined;
    await hurry();
    await server.mailTo(email);
    await vi.waitFor(async () => expect(await stateOf(email)).toMatchObject([{ state: 'sent', data: null }]), SOON);
  });

  it('is tried again after a refusal for now, with the same ID', async () => {
    const email = anyEmail();
    server.refuseText = () => refusal(452, 'Not now');
    await invite(boss, email);
    await vi.waitFor(
      async () =>
        expect(await stateOf(email)).toMatchObject([
          { state: 'pending', attempts: 1, fault: expect.stringContaining('452') },
        ]),
      SOON,
    );
    server.refuseText = () => undefined;
    await hurry();
    const { mail } = await server.mailTo(email);
    const { rows } = await service.pool.query('select id from mails where receiver = $1', [email]);
    expect(mail.messageId).toBe(`<${rows[0].id}@cloud.example.com>`);
  });

  it.each([
    ['its receiver', () => (server.refuse = () => refusal(550, 'No such user'))],
    ['its text', () => (server.refuseText = () => refusal(554, 'Spam'))],
  ])('is given up if the server refuses %s for good', async (_what, refuse) => {
    refuse();
    const email = anyEmail();
    await invite(boss, email);
    await vi.waitFor(
      async () => expect(await stateOf(email)).toMatchObject([{ state: 'failed', attempts: 1, data: null }]),
      SOON,
    );
  });

  it('is given up when its time is over', async () => {
    const email = anyEmail();
    server.refuse = () => refusal(451, 'Try again later');
    await invite(boss, email);
    await vi.waitFor(async () => expect(await stateOf(email)).toMatchObject([{ attempts: 1 }]), SOON);
    await service.pool.query(`update mails set expires_at = now() where receiver = $1`, [email]);
    await vi.waitFor(async () => expect(await stateOf(email)).toMatchObject([{ state: 'failed', data: null }]), SOON);
  });
});

it('is previewed with the templates of the server', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'templates-'));
  fs.writeFileSync(
    path.join(folder, 'deletion_request.txt.liquid'),
    'Subject: {{ company }} {{ event }}\n\n{{ reason }}, says {{ user }}.\n',
  );
  const own = await startService({ TRADEWIND_MAIL_TEMPLATES: folder });
  try {
    const { status, body } = await own.http.get(previewOf(1, 'deletion_request'));
    expect([status, body.subject, body.text]).toEqual([
      200,
      'Example Ltd requested',
      'We have moved elsewhere, says jo@example.com.\n',
    ]);
    // Others keep the mail of Tradewind.
    expect(body.html).toContain('<b>Example Ltd</b>');
    expect((await own.http.get(previewOf(1, 'invitation'))).status).toBe(400);
    const other = await own.otherTenant();
    expect((await other.http.get(previewOf(1, 'deletion_request'))).status).toBe(403);
  } finally {
    await own.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

it('waits in a folder if there is no server, and the log says so once', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mails-'));
  const lines: string[] = [];
  const { pino } = await import('pino');
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const own = await startService({ TRADEWIND_MAIL_DIR: folder }, { log });
  try {
    const host = await newPerson(own.http);
    const emails = [anyEmail(), anyEmail()];
    const tokens = [];
    for (const email of emails) tokens.push((await invite(host, email)).invitation_token);
    const files = () => fs.readdirSync(folder).filter((name) => name.endsWith('-invitation.eml'));
    await vi.waitFor(() => expect(files()).toHaveLength(2), SOON);
    const [first = ''] = files().sort();
    expect(fs.statSync(path.join(folder, first)).mode & 0o777).toBe(0o600);
    const mail = await PostalMime.parse(fs.readFileSync(path.join(folder, first)));
    expect(mail.to).toEqual([{ name: '', address: emails[0] }]);
    // There is no page that a link could lead to.
    expect(mail.text).toContain(`\n${tokens[0]}\n`);
    expect(mail.text).not.toContain('http');
    // It is said once the first mail is there.
    await vi.waitFor(() => expect(lines.filter((line) => line.includes(folder))).toHaveLength(1), SOON);
    for (const token of tokens) expect(lines.join()).not.toContain(token.split('_')[2]);
  } finally {
    await own.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
