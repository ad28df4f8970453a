import { execFile } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { Locator, Page, Request } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { PARAMETERS } from '../../console/src/pages/kubernetes/autoscaler-parameters.ts';
import { autoscalerFlags } from '../../kubernetes/rendering/autoscaler-flags.ts';
import { AUTOSCALER_PARAMETERS } from '../../src/cloud/kubernetes/clusters/configuration/validate.ts';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { CLUSTERS, makeCluster, POOL, pauseClusterWork } from '../support/clusters.ts';
import { SOON } from '../support/http-client.ts';

it('explains the parameters of the autoscaler that the server takes, with their ranges and defaults', () => {
  expect(PARAMETERS.map(({ name, kind }) => [name, kind])).toEqual(
    [...AUTOSCALER_PARAMETERS].map(([name, { kind }]) => [name, kind]),
  );
  for (const { name, range } of PARAMETERS) {
    const rule = AUTOSCALER_PARAMETERS.get(name);
    if (rule?.kind === 'int' || rule?.kind === 'float') expect(range, name).toContain(`${rule.min} to ${rule.max}`);
    if (rule?.kind === 'duration') expect(range, name).toContain(rule.positive ? 'longer than zero' : 'zero or longer');
  }
  const known = new Map(PARAMETERS.map((one) => [one.name, one.default]));
  const platform = autoscalerFlags({}, 31).map((flag) => flag.replace('--', '').split('='));
  expect(platform).toEqual(platform.map(([name]) => [name, known.get(name ?? '')]));
});

describeInBrowser('clusters in the console', () => {
  const browser = setUpBrowser();
  let made = 0;
  let name = 'demo';
  const tab = (of: string) => `p/1/r/1/clusters/${name}?tab=${of}`;

  async function makeDemo(overrides: object = {}) {
    const { http: api } = browser.service;
    const key = await api.post('/cloud/v1/ssh_keys/1', { name: `key-${made}` });
    made += 1;
    name = `demo-${made}`;
    const body = { name, version: 'v1.32.13', keypair: key.body.name, pools: [POOL], ...overrides };
    return makeCluster(api, body);
  }

  const cluster = async () => (await browser.service.http.get(`${CLUSTERS}/${name}`)).body;
  const review = (page: Page): Locator => page.getByRole('dialog', { name: /^Change/ });

  async function apply(page: Page) {
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await review(page).getByRole('button', { name: 'Apply', exact: true }).click();
    await review(page).waitFor({ state: 'hidden' });
  }

  it('are made by the form, with the price beside it; the task goes on without a reload, and another browser sees it', async () => {
    const { service } = browser;
    const key = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'laptop' });
    expect(key.status, key.text).toBe(201);
    const other = await browser.visit();
    await other.open('p/1/r/1/clusters');
    await other.page.getByText('There is no cluster in this project and region.').waitFor();

    const { page, open } = await browser.visit();
    await open('p/1/r/1/create-cluster');
    await page.getByRole('region', { name: 'Cluster' }).getByLabel('Name').fill('demo');
    await page.getByLabel('SSH key').selectOption('laptop');
    await page.getByLabel('Flavor').selectOption('g1-standard-2-4');
    await page.getByLabel('Minimum nodes').fill('2');
    await page.getByLabel('Boot volume type').selectOption('ssd_hiiops');
    // Nothing is lost when one looks at another page.
    await page.getByRole('link', { name: 'SSH keys' }).click();
    await page.getByRole('heading', { name: 'SSH keys', level: 1 }).waitFor();
    await page.goBack();
    // At the minimum, and at the maximum as it is at first.
    for (const node_count of [2, 3]) {
      const { body: price } = await service.http.post('/cloud/v2/pricing/1/1/k8s/clusters', {
        pools: [{ flavor_id: 'g1-standard-2-4', node_count, boot_volume_size: 50, boot_volume_type: 'ssd_hiiops' }],
      });
      const total = price.total_price.price_per_month.toLocaleString('en', { maximumFractionDigits: 2 });
      await page.getByRole('region', { name: 'Price' }).getByText(total).waitFor();
    }

    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Create cluster demo?' });
    await dialog.getByText('create k8s cluster').waitFor();
    const told = (await dialog.locator('.made').allTextContents()).join();
    expect(told).toContain('SSH keylaptop');
    expect(told).toContain('Flavor: g1-standard-2-4\nMinimum node count: 2');
    expect(told).not.toMatch(/[{"]|\w+_id/);
    await page.evaluate('globalThis.stillTheSamePage = true');
    const goOn = await pauseClusterWork(service);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'demo', level: 1 }).waitFor();
    await page.getByText('0 of 1 steps are done').waitFor();
    await other.page.getByRole('link', { name: 'demo' }).waitFor();
    await other.page.getByRole('link', { name: 'in progress' }).waitFor();

    await goOn();
    await page.getByText('A task holds this cluster').waitFor({ state: 'hidden' });
    await page.getByText('Provisioned').waitFor();
    await other.page.getByText('Provisioned').waitFor();
    expect(await page.evaluate('globalThis.stillTheSamePage')).toBe(true);
    expect(await cluster()).toMatchObject({ keypair: 'laptop', pools: [{ node_count: 2, max_node_count: 3 }] });
  });

  it('are refused in the words of the form: at the field if there is one, which is then in sight', async () => {
    const { page, open } = await browser.visit();
    await page.addInitScript('delete globalThis.SharedWorker');
    browser.expectFaults(/status of 40[01]/);
    await open('p/1/r/1/create-cluster');
    await page.route('**/cloud/v2/k8s/clusters/1/1', (route) =>
      route.fulfill({
        status: 400,
        json: {
          message: 'Validation error',
          invalid_fields: {
            'pools.0.name': ['Too short.'],
            'pools.0.taints.x': ['No effect.'],
            'csi.nfs.vast_enabled': ['Not here.'],
            'pools.0.crio_limits': ['Too many.'],
          },
        },
      }),
    );
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const told = page.getByRole('alert').filter({ hasText: 'Nothing was created' });
    await told.getByText('3 fields are wrong.').waitFor();
    expect(await told.getByRole('listitem').allTextContents()).toEqual(['Pool 1, crio limits: Too many.']);
    for (const [label, text] of [
      ['Pool name', 'Too short.'],
      ['Taints', 'x: No effect.'],
      ['VAST NFS', 'Not here.'],
    ] as const) {
      const field = page.getByLabel(label, { exact: false }).first();
      expect(await field.getAttribute('aria-invalid'), label).toBe('true');
      expect(await field.isVisible(), label).toBe(true);
      await page.getByRole('alert').getByText(text).waitFor();
    }
  });

  it('change two parameters of the autoscaler by exactly the request that is shown as code', async () => {
    await makeDemo({ autoscaler_config: { 'scale-down-unneeded-time': '8m' } });
    const { page, open } = await browser.visit();
    // A page without a shared worker sends its requests itself, so that they can be seen.
    await page.addInitScript('delete globalThis.SharedWorker');
    // It isn't told of the change that the code makes.
    browser.expectFaults(/ERR_FAILED/);
    await page.route('**/tradewind/v1/events**', (route) => route.abort());
    const sent: string[] = [];
    page.on('request', (request: Request) => {
      if (request.method() === 'PATCH' && !request.headers()['tradewind-dry-run']) sent.push(request.postData() ?? '');
    });
    await open(tab('autoscaler'));
    const interval = page.getByLabel('scan-interval', { exact: true });
    expect(await interval.inputValue()).toBe('10s');

    // What the server says is wrong is at the field, and what was typed stays.
    browser.expectFaults(/400/, /412/);
    await interval.fill('20');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('alert').getByText('Must be a duration').waitFor();
    expect(await interval.inputValue()).toBe('20');

    await interval.fill('20s');
    await page.getByLabel('skip-nodes-with-system-pods').selectOption('false');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await review(page).getByText('Tasks').waitFor();
    const changes = review(page)
      .getByRole('listitem')
      .filter({ has: page.locator('ins') });
    expect(await changes.allTextContents()).toEqual([
      'scan-interval10s (default)20s',
      'skip-nodes-with-system-podstrue (default)false',
    ]);
    await review(page).getByRole('heading', { name: '2 changes' }).waitFor();

    await review(page).getByText('As code').click();
    const code = (await review(page).locator('pre').textContent()) ?? '';
    const { url, bodies } = await forwarder();
    const { stdout } = await promisify(execFile)('sh', ['-c', code.replaceAll(browser.service.url, url)], {
      env: { ...process.env, TRADEWIND_TOKEN: browser.service.http.token },
    });
    const [task] = JSON.parse(stdout);
    expect(await browser.service.http.task(task)).toMatchObject({ state: 'FINISHED' });
    expect((await cluster()).autoscaler_config).toEqual({
      'scale-down-unneeded-time': '8m',
      'scan-interval': '20s',
      'skip-nodes-with-system-pods': 'false',
    });

    // The button sends the same. It comes too late, so nothing is changed twice, and both have wanted the same.
    await review(page).getByRole('button', { name: 'Apply', exact: true }).click();
    await review(page).waitFor({ state: 'hidden' });
    await page.getByRole('region', { name: 'Somebody else has changed these settings' }).waitFor();
    expect(sent).toEqual(bodies);
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      autoscaler_config: { 'scan-interval': '20s', 'skip-nodes-with-system-pods': 'false' },
    });
    const { body: recorded } = await browser.service.http.get(`/v1/tasks/${task}`);
    expect(recorded.data).toEqual({ cluster_name: name, ...JSON.parse(bodies[0] ?? '') });
  });

  /** Passes on what it is sent, and keeps the bodies. */
  async function forwarder(): Promise<{ url: string; bodies: string[] }> {
    const bodies: string[] = [];
    const server = http.createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const body = Buffer.concat(parts).toString();
      bodies.push(body);
      const answer = await fetch(browser.service.url + request.url, {
        method: request.method ?? 'GET',
        headers: {
          authorization: request.headers.authorization ?? '',
          'content-type': request.headers['content-type'] ?? '',
          'if-match': String(request.headers['if-match']),
        },
        body,
      });
      response.writeHead(answer.status).end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
  }

  it('lose nothing when two people change the same settings', async () => {
    await makeDemo();
    browser.expectFaults(/412/);
    const [first, second] = [await browser.visit(), await browser.visit()];
    for (const { open } of [first, second]) await open(tab('autoscaler'));
    const set = async (page: Page, values: Record<string, string>) => {
      for (const [name, value] of Object.entries(values)) await page.getByLabel(name, { exact: true }).fill(value);
    };
    await set(second.page, { 'scan-interval': '30s', 'scale-down-unneeded-time': '7m' });
    await second.page.getByRole('button', { name: 'Apply', exact: true }).click();
    await review(second.page).getByText('Tasks').waitFor();

    await set(first.page, { 'scan-interval': '20s', 'max-node-provision-time': '20m' });
    await apply(first.page);
    await expect.poll(async () => (await cluster()).autoscaler_config, SOON).toMatchObject({ 'scan-interval': '20s' });
    await first.page.getByRole('status').getByText('It is being applied').waitFor({ state: 'hidden' });

    // What the second has reviewed is refused, and gives way to the three versions.
    await review(second.page).getByRole('button', { name: 'Apply', exact: true }).click();
    await review(second.page).waitFor({ state: 'hidden' });
    const versions = second.page.getByRole('region', { name: 'Somebody else has changed these settings' });
    await versions.waitFor();
    const rows = await versions.getByRole('row').allTextContents();
    expect(rows.slice(1).sort()).toEqual([
      'max-node-provision-time15m (default)20m15m (default)theirs',
      'scale-down-unneeded-time5m (default)5m (default)7myours',
      'scan-interval10s (default)20s30sscan-intervaltheirsyours',
    ]);
    const goOn = versions.getByRole('button', { name: 'Go on with these' });
    expect(await goOn.isDisabled()).toBe(true);
    await versions.getByRole('radio', { name: 'yours' }).check();
    await goOn.click();
    expect(await second.page.getByLabel('max-node-provision-time', { exact: true }).inputValue()).toBe('20m');
    await apply(second.page);
    await expect
      .poll(async () => (await cluster()).autoscaler_config, SOON)
      .toEqual({ 'scan-interval': '30s', 'max-node-provision-time': '20m', 'scale-down-unneeded-time': '7m' });
  });

  it('keep what was entered when the task fails, and the task says why', async () => {
    await makeDemo();
    const { page, open } = await browser.visit();
    await open(tab('logging'));
    await page.getByLabel('Forward the logs').check();
    await page.getByLabel('Region that stores the logs').selectOption({ index: 1 });
    await page.getByLabel('Topic').fill('simulate-failure');
    await apply(page);
    await page.getByRole('alert').getByText('The change failed').waitFor();
    expect(await page.getByLabel('Topic').inputValue()).toBe('simulate-failure');
    await page.getByRole('button', { name: 'Edit it' }).click();
    expect(await page.getByRole('button', { name: 'Apply', exact: true }).isEnabled()).toBe(true);
    expect((await cluster()).logging?.enabled ?? false).toBe(false);

    await page.getByRole('link', { name: 'Tasks' }).last().click();
    const failed = page.getByRole('region', { name: 'update k8s cluster' }).first();
    await failed.getByText('refused topic simulate-failure').first().waitFor();
    await failed.getByText('given up').waitFor();
  });

  it('have no barriers while something is changed', { timeout: 120_000 }, async () => {
    await makeDemo({ cni: { provider: 'cilium' } });
    const { page, open } = await browser.visit();
    await open(tab('autoscaler'));
    await page.getByLabel('scan-interval', { exact: true }).fill('20s');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await review(page).getByText('Tasks').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await open('p/1/r/1/create-cluster');
    await page.getByText('DDoS protection', { exact: true }).first().click();
    await page.getByText('Labels, taints').click();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
