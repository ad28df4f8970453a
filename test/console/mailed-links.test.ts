import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { bearer, comes, invite, logIn, newPerson } from '../support/logins.ts';
import { type MailServer, openMailServer } from '../support/mail-server.ts';
import { addReseller } from '../support/reseller.ts';

const PUBLIC = 'https://cloud.example.com/below';
let mails: MailServer;
const settings: Record<string, string> = {
  TRADEWIND_CONSOLE: 'off',
  TRADEWIND_PUBLIC_URL: PUBLIC,
  TRADEWIND_MAIL_FROM: 'noreply@example.com',
};
beforeAll(async () => {
  mails = await openMailServer();
  settings.TRADEWIND_SMTP_URL = `smtp://127.0.0.1:${mails.port}`;
});
afterAll(() => mails.stop());

describeInBrowser('the pages of mailed links, where the console is off', () => {
  const browser = setUpBrowser(settings);

  /** Opens the link in the newest mail to an address, in a browser where nobody is signed in. */
  async function openLinkTo(email: string, subject?: string) {
    const { mail } = await mails.mailTo(email, subject);
    const [, link = ''] = new RegExp(`${PUBLIC}(/\\S+)`).exec(mail.text ?? '') ?? [];
    const { page } = await browser.visitAsStranger();
    const answer = await page.goto(browser.service.url + link);
    expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'");
    await page.getByRole('heading', { level: 1 }).waitFor();
    return { page, link };
  }

  it('let an invited person join with a password of their choice', async () => {
    const { service } = browser;
    const boss = await newPerson(service.http, { company: 'Acme <Ltd>' });
    const email = `invited-${boss.userId}@example.com`;
    await invite(boss, email);
    const { page, link } = await openLinkTo(email);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Join Acme <Ltd>');
    expect(await page.getByRole('main').textContent()).toContain(`${email} is invited`);
    expect(await accessibilityFaults(page)).toEqual([]);
    const password = page.getByLabel('New password');
    await password.fill('short');
    await page.getByRole('button', { name: 'Join' }).click();
    // The browser itself refuses that.
    expect(await password.evaluate('document.querySelector("#password:invalid") !== null')).toBe(true);
    await page.getByLabel('Show the password').check();
    expect(await password.getAttribute('type')).toBe('text');
    await password.fill('many small green apples');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You have joined' }).waitFor();
    expect(page.url()).not.toContain('token');
    // There is no console to sign in to.
    expect(await page.getByRole('link').count()).toBe(0);
    const { body } = await bearer(service.url, await logIn(service.anonymous, email, 'many small green apples')).get(
      '/iam/clients/me',
    );
    expect(body.id).toBe(boss.clientId);
    // The link works once.
    browser.expectFaults(/400/);
    await page.goto(`${service.url}/reset-password`);
    await page.goto(service.url + link);
    await page.getByRole('heading', { name: 'This link doesn’t work' }).waitFor();
    expect(await page.getByRole('main').textContent()).toContain('it was used');
  });

  it('ask somebody who logs in already for their password', async () => {
    const { service } = browser;
    const [host, guest] = [await newPerson(service.http, { company: 'Host' }), await newPerson(service.http)];
    await comes(host, `other-${host.userId}@example.com`, { name: 'Users' });
    await invite(host, guest.email);
    const { page } = await openLinkTo(guest.email, 'Host invites you');
    browser.expectFaults(/400/);
    await page.getByLabel('Your password').fill('not this one');
    await page.getByRole('button', { name: 'Join' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('not the password of the login with this address');
  });

  it('set a forgotten password, and send another link if this one has expired', async () => {
    const { service } = browser;
    const { email, userId } = await newPerson(service.http);
    await service.anonymous.post('/iam/auth/password/forgot', { email });
    const { page, link } = await openLinkTo(email);
    await service.pool.query(
      `update password_resets set expires_at = now() - interval '1 minute' where user_id = ${userId}`,
    );
    browser.expectFaults(/400/);
    await page.getByLabel('New password').fill('many small green apples');
    await page.getByRole('button', { name: 'Set the password' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('has expired');
    await page.reload();
    await page.getByLabel('E-mail address').fill(email);
    mails.forget();
    await service.pool.query(`update users set password_requested_at = null where id = ${userId}`);
    await page.getByRole('button', { name: 'Send me a new one' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    const second = await openLinkTo(email);
    expect(second.link).not.toBe(link);
    expect(await accessibilityFaults(second.page)).toEqual([]);
    await second.page.getByLabel('New password').fill('many small green apples');
    await second.page.getByRole('button', { name: 'Set the password' }).click();
    await second.page.getByRole('heading', { name: 'The password is set' }).waitFor();
    await logIn(service.anonymous, email, 'many small green apples');
  });

  it('confirm the deletion of an account, and end the mails about it', async () => {
    const { service } = browser;
    const reseller = await addReseller(service, 'Letting go');
    const owner = await newPerson(reseller.http, { company: 'Leaving' });
    const told = `told-${owner.userId}@example.com`;
    const settingsPath = `/iam/reselling/resellers/${reseller.resellerId}/notification_settings`;
    const setting = await reseller.http.post(settingsPath, { notification_type: 'deletion_request', email: told });
    await owner.http.post('/tradewind/v1/deletion_request', { reason: 'Moved' });
    const { page, link } = await openLinkTo(owner.email, 'Confirm that Leaving');
    expect(await page.getByRole('main').textContent()).toContain('asks Letting go to delete the account of Leaving');
    expect((await owner.http.get('/tradewind/v1/deletion_request')).body.confirmed_at).toBeNull();
    await page.getByRole('button', { name: 'Confirm the deletion' }).click();
    await page.getByRole('heading', { name: 'The request is confirmed' }).waitFor();
    expect((await owner.http.get('/tradewind/v1/deletion_request')).body.confirmed_at).toMatch(/^\d{4}-/);
    const { mail } = await mails.mailTo(told, 'Leaving confirms');
    expect(mail.text).toContain(`${owner.email} confirmed by mail`);

    const { page: subscription } = await openLinkTo(told, 'Leaving confirms');
    expect(await subscription.getByRole('main').textContent()).toContain(
      `Letting go sends mails about deletions of accounts to ${told}`,
    );
    expect(await accessibilityFaults(subscription)).toEqual([]);
    const enabled = async () => (await reseller.http.get(`${settingsPath}/${setting.body.id}`)).body.enabled;
    await subscription.getByRole('button', { name: 'End them' }).click();
    await subscription.getByRole('heading', { name: 'These mails have ended' }).waitFor();
    expect(await enabled()).toBe(false);
    await subscription.getByRole('button', { name: 'Let them come again' }).click();
    await subscription.getByRole('heading', { name: 'End these mails?' }).waitFor();
    expect(await enabled()).toBe(true);

    // Taken back, the request can't be confirmed, nor can it be once the token belongs to an older one.
    browser.expectFaults(/400/);
    await owner.http.delete('/tradewind/v1/deletion_request');
    await owner.http.post('/tradewind/v1/deletion_request', {});
    await page.goto(service.url + link);
    await page.getByRole('heading', { name: 'This link doesn’t work' }).waitFor();
  });

  it('say what is wrong without a token', async () => {
    const { page } = await browser.visitAsStranger();
    await page.goto(`${browser.service.url}/notification-settings#setting=1`);
    await page.getByRole('heading', { name: 'This link doesn’t work' }).waitFor();
    const faults = await page.request.post(`${browser.service.url}/tradewind/v1/mailed_links`, {
      data: { token: `subscription_1_${'00'.repeat(32)}` },
    });
    expect(faults.status()).toBe(400);
  });
});

it('tell only the holder of a token what it is for', async () => {
  const { startService } = await import('../support/service.ts');
  const service = await startService({});
  const boss = await newPerson(service.http);
  const { invitation_token: token } = await invite(boss, 'secretly-invited@example.com');
  const read = (text: string) => service.anonymous.post('/tradewind/v1/mailed_links', { token: text });
  expect((await read(token)).body).toMatchObject({ kind: 'invitation', email: 'secretly-invited@example.com' });
  const [kind, id, secret] = token.split('_');
  for (const other of [
    `${kind}_${id}_${'0'.repeat(64)}`,
    `reset_${id}_${secret}`,
    `deletion_${boss.clientId}_${secret}`,
  ])
    expect((await read(other)).status, other).toBe(400);
  await service.stop();
});
