import { expect, it } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { describeInBrowser, setUpBrowser, type Visit } from '../support/browser.ts';
import { signIn } from '../support/chromium.ts';
import type { Answer } from '../support/http-client.ts';

const LONG = 300_000;

describeInBrowser('storage in the console', () => {
  const browser = setUpBrowser();

  const finished = async ({ status, text, body }: Answer) => {
    expect(status, text).toBe(200);
    const ended = await browser.service.http.task(body[0]);
    expect(ended.state, ended.error).toBe('FINISHED');
    return ended.created_resources;
  };
  const makeVolume = async (name: string): Promise<string> =>
    (await finished(await browser.service.http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name, size: 1 })))
      .volumes[0];

  /** A page that asks the API by itself, not by the worker that pages share: only so a test sees its requests. */
  async function visitWithoutWorker(): Promise<Visit> {
    const visit = await browser.visitAsStranger();
    await visit.page.addInitScript('delete globalThis.SharedWorker');
    await signIn(visit.page, browser.service.url, browser.service.http.token ?? '');
    return visit;
  }

  async function priceOf(size: number): Promise<{ month: string; hour: string }> {
    const { body } = await browser.service.http.post('/cloud/v1/pricing/1/1/volumes', { source: 'new-volume', size });
    const money = (amount: number, digits: number) =>
      new Intl.NumberFormat('en-US', {
        style: 'currency',
        currency: body.currency_code,
        minimumFractionDigits: 2,
        maximumFractionDigits: digits,
      }).format(amount);
    return { month: money(body.price_per_month, 2), hour: money(body.price_per_hour, 5) };
  }

  it.each([200, 403])(
    'asks for a list once, when its page is opened (answer %i)',
    async (status) => {
      const { page, open } = await visitWithoutWorker();
      browser.expectFaults(/status of 40[13]/);
      let asked = 0;
      await page.route('**/cloud/v1/volumes/**', async (route) => {
        asked += 1;
        await (status === 200
          ? route.continue()
          : route.fulfill({ status, json: { message: 'Volumes are not yours.' } }));
      });
      await open('p/1/r/1/ssh-keys');
      const link = page.getByRole('link', { name: 'Volumes', exact: true });
      const code = page.waitForResponse(/\/volumes-/);
      await link.hover();
      await code;
      await page.waitForTimeout(500);
      expect(asked).toBe(0);
      await link.click();
      await page
        .getByText(status === 200 ? /There is no volume|in all/ : 'Volumes are not yours.')
        .first()
        .waitFor();
      await page.waitForTimeout(500);
      expect(asked).toBe(1);
    },
    120_000,
  );

  it('shows the price that the API says for the size typed last, however late the other answers come', async () => {
    const { page, open } = await visitWithoutWorker();
    browser.expectFaults(/status of 401/);
    let asked = 0;
    let answered = 0;
    page.on('requestfinished', (request) => {
      if (request.url().includes('/pricing/')) answered += 1;
    });
    // The last answer overtakes the one before it.
    const delays: Record<number, number> = { 1000: 500, 57: 50 };
    await page.route('**/cloud/v1/pricing/**', async (route) => {
      asked += 1;
      const delay = delays[route.request().postDataJSON().size] ?? 50 + Math.random() * 450;
      await new Promise((resolve) => setTimeout(resolve, delay));
      await route.continue();
    });
    await open('p/1/r/1/volumes/new');
    const size = page.getByLabel('Size in GiB');
    for (const typed of ['20', '35', '400', '1000', '57']) {
      await size.fill(typed);
      // Long enough for a question of its own, shorter than its answer.
      await page.waitForRequest('**/cloud/v1/pricing/**');
    }
    const price = page.getByRole('region', { name: 'Price' });
    const { month, hour } = await priceOf(57);
    await expect.poll(() => answered).toBe(asked);
    await price.getByText('asking …').waitFor({ state: 'detached' });
    expect(await price.textContent()).toContain(`Month${month}Hour${hour}`);
    expect(asked).toBeGreaterThanOrEqual(5);
  });

  it('says which of 50 volumes could not be deleted and why, and sends only those again, with the same keys', {
    timeout: LONG,
  }, async () => {
    const { http } = browser.service;
    const names = Array.from({ length: 50 }, (_, index) => `volume ${String(index).padStart(2, '0')}`);
    const ids = await Promise.all(names.map(makeVolume));
    const machine = await finished(
      await http.post('/cloud/v2/instances/1/1', {
        name: 'holder',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'external' }],
        volumes: [{ ...BOOT_VOLUME, name: 'of the holder' }],
      }),
    );
    const held = [3, 17, 42];
    for (const index of held)
      await finished(
        await http.post(`/cloud/v2/volumes/1/1/${ids[index]}/attach`, { instance_id: machine.instances[0] }),
      );

    const { page, open } = await visitWithoutWorker();
    browser.expectFaults(/status of (401|409|400|403)/);
    const sent: { id: string; key: string | undefined }[] = [];
    page.on('request', (request) => {
      if (request.method() === 'DELETE')
        sent.push({ id: request.url().split('/').at(-1) ?? '', key: request.headers()['idempotency-key'] });
    });
    await open('p/1/r/1/volumes?name_part=volume');
    await page.getByText('50 in all').waitFor();
    await page.getByLabel('Choose all on this page').check();
    await page.getByRole('button', { name: 'Delete 50' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Delete 50 volumes?' }).waitFor();
    await dialog.getByText('3 of them will probably be refused.').waitFor();
    expect(await dialog.getByText('attached to holder').count()).toBe(held.length);
    await dialog.getByRole('button', { name: 'Delete 50' }).click();
    await dialog.getByText('47 of 50 accepted, 3 refused.').waitFor();
    for (const index of held) {
      const line = await dialog
        .getByRole('listitem')
        // Not what an ID begins with after "Volume".
        .filter({ hasText: new RegExp(names[index] ?? '') })
        .textContent();
      expect(line).toMatch(/in-use|attached/i);
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(50);
    expect(new Set(sent.flatMap(({ key }) => key ?? [])).size).toBe(50);

    const first = sent.splice(0);
    const [freed] = held.map((index) => ids[index]);
    await finished(await http.post(`/cloud/v2/volumes/1/1/${freed}/detach`, { instance_id: machine.instances[0] }));
    await dialog.getByRole('button', { name: 'Try the 3 again' }).click();
    await dialog.getByText('48 of 50 accepted, 2 refused.').waitFor();
    expect(new Set(sent.map(({ id }) => id))).toEqual(new Set(held.map((index) => ids[index])));
    expect(first).toEqual(expect.arrayContaining(sent));
    const kept = names[held[1] ?? 0] ?? '';
    await dialog.getByRole('link', { name: kept }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 in all').waitFor();
    const row = page.getByRole('row').filter({ hasText: kept });
    await row.getByRole('link', { name: 'holder' }).waitFor();
  });

  it('is Terraform too: a form makes a resource, and a page imports what it shows', async () => {
    const id = await makeVolume('kept');
    const { page, open } = await browser.visit();
    const terraform = async () => {
      await page.getByRole('button', { name: 'As code' }).first().click();
      const drawer = page.getByRole('dialog', { name: 'As code' });
      await drawer.getByRole('button', { name: 'Terraform' }).click();
      return drawer.locator('pre').textContent();
    };
    await open(`p/1/r/1/volumes/${id}`);
    expect(await terraform()).toContain(`import {\n  to = gcore_cloud_volume.volume\n  id = "1/1/${id}"\n}\n`);
    await open('p/1/r/1/volumes/new');
    await page.getByLabel('Name').fill('front.end');
    expect(await terraform()).toMatch(
      /^resource "gcore_cloud_volume" "front_end" \{\n {2}project_id = 1\n {2}region_id = 1\n[\s\S]* {2}name = "front\.end"\n/,
    );
  });

  it('shows what the server says of a field there, and keeps what was typed', async () => {
    const { page, open } = await browser.visit();
    browser.expectFaults(/status of 400/);
    await open('p/1/r/1/volumes/new');
    await page.getByLabel('Name').fill('x');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: '3 to 63 characters' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('x');
    await page.getByLabel('Name').fill('data of the shop');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('create volume').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog', { name: 'Done: create volume data of the shop' }).waitFor();
    await page.getByRole('link', { name: 'data of the shop' }).click();
    await page.getByRole('heading', { name: 'data of the shop', level: 1 }).waitFor();
  });

  it('makes file shares and images by forms of their own', async () => {
    const { http } = browser.service;
    const [{ id: image }] = (await http.get('/cloud/v1/images/1/1')).body.results;
    await finished(
      await http.post('/cloud/v1/volumes/1/1', { source: 'image', image_id: image, name: 'to copy', size: 40 }),
    );
    const { page, open } = await browser.visit();
    browser.expectFaults(/status of 400/);
    await open('p/1/r/1/file-shares/new');
    await page.getByLabel('Name', { exact: false }).first().fill('of the shop');
    await page.getByLabel('Size in GiB').fill('30');
    const question = { source: 'new-file-share', size: 30, type_name: 'vast' };
    const { body: price } = await http.post('/cloud/v1/pricing/1/1/file_shares', question);
    await page.getByRole('region', { name: 'Price' }).getByText(price.price_per_month.toFixed(2)).first().waitFor();
    await page.getByLabel('Size in GiB').fill('0');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: '1 field needs attention' }).waitFor();
    await page.getByLabel('Size in GiB').fill('30');
    await page.getByLabel('Treat root as nobody').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'of the shop', exact: true }).waitFor();

    await open('p/1/r/1/images/new');
    await page.getByLabel('Name', { exact: false }).first().fill('copy of a volume');
    await page.getByLabel('Volume required').selectOption({ label: 'to copy (40 GiB)' });
    await page.getByRole('region', { name: 'Price' }).getByText('Month').first().waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'copy of a volume', exact: true }).waitFor();
  });

  it('moves to the first field that is wrong, and says how many are', async () => {
    const { page, open } = await browser.visit();
    browser.expectFaults(/status of 400/);
    await open('p/1/r/1/volumes/new');
    await page.getByLabel('Name').fill('x');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: '1 field needs attention' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('x');
  });

  it('has the button to apply in sight, however much is made, and tells no value that will be another', async () => {
    const { page, open } = await browser.visit();
    await page.setViewportSize({ width: 800, height: 400 });
    await open('p/1/r/1/ssh-keys');
    await page.getByLabel('Name of the key').fill('made later');
    await page.getByRole('button', { name: 'Add' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What is made').waitFor();
    const lines = await dialog.getByRole('listitem').allTextContents();
    expect(lines).toEqual(expect.arrayContaining(['Fingerprintmade on creation', 'Public keymade on creation']));
    for (const summary of await dialog.locator('summary').all()) await summary.click();
    const box = await dialog.getByRole('button', { name: 'Add' }).boundingBox();
    expect((box?.y ?? 400) + (box?.height ?? 0)).toBeLessThanOrEqual(400);
  });

  it('tells of a task that was begun here how it ends, and points out a failure until it is acknowledged', async () => {
    const { http } = browser.service;
    const fault = { task: 'create_volume', name: 'doomed*', do: { fail: 'no space left' } };
    expect((await http.post('/tradewind/v1/test/faults', fault)).status).toBe(201);
    const { page, open } = await browser.visit();
    await open('p/1/r/1/volumes/new');
    await page.getByLabel('Name').fill('doomed one');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    const failure = page.getByRole('dialog', { name: 'Failed: create volume doomed one' });
    await failure.getByText('no space left').waitFor();
    await page.getByRole('button', { name: /^Tasks.* 1 failed$/ }).waitFor();
    await failure.getByRole('link', { name: 'See the task' }).click();
    await page.getByRole('heading', { name: 'create volume doomed one', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('button', { name: /^Tasks.*failed$/ }).waitFor({ state: 'detached' });
    expect(await failure.isVisible()).toBe(true);
    await failure.getByRole('button', { name: 'Dismiss' }).click();
    await failure.waitFor({ state: 'detached' });
  });

  it('leads from the overview to why a task failed and who asked for it, until that is acknowledged', async () => {
    const { http } = browser.service;
    const fault = { task: 'create_volume', name: 'broken*', do: { fail: 'no space left' } };
    expect((await http.post('/tradewind/v1/test/faults', fault)).status).toBe(201);
    const made = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'broken one', size: 1 });
    expect((await http.task(made.body[0])).state).toBe('ERROR');
    const { page, open } = await browser.visit();
    await open('p/1/r/1');
    const card = page.getByRole('region', { name: 'Needs you' });
    await card.getByText('no space left').waitFor();
    await card.getByRole('link', { name: 'create volume broken one' }).click();
    const step = page.getByRole('region', { name: 'Steps' }).getByRole('listitem').filter({ hasText: 'given up' });
    await step.getByText('no space left').waitFor();
    await page.getByRole('link', { name: 'Request' }).click();
    await page.getByRole('region', { name: 'Audit record' }).getByText('createVolume').waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('dialog', { name: 'Accepted' }).waitFor();
    await open('p/1/r/1');
    await card.getByText('No task has failed that nobody has seen.').waitFor();
  });

  it('never shows what is in a secret, and the private key of a new pair once', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/secrets');
    await page.getByLabel('What it is').selectOption('passphrase');
    await page.getByLabel('Name of the secret').fill('of the shop');
    await page.getByLabel('Contents').fill('open sesame');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Store' }).click();
    await page.getByRole('cell', { name: 'of the shop', exact: true }).waitFor();
    expect(await page.getByLabel('Contents').inputValue()).toBe('');
    expect(await page.content()).not.toMatch(/open sesame|b3BlbiBzZXNhbWU/);

    await open('p/1/r/1/ssh-keys');
    await page.getByLabel('Name of the key').fill('laptop');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    const made = page.getByRole('status').filter({ hasText: 'BEGIN OPENSSH PRIVATE KEY' });
    await made.waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await made.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'laptop', exact: true }).waitFor();
  });
});
