import fs from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { build, runTradewind, type ServeProcess, serve, temporaryFolder } from '../acceptance/processes.ts';
import { describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { hurried } from '../support/infrastructure.ts';
import { reservePort } from '../support/ports.ts';
import { clusterBody, tasksIn } from '../support/possessions.ts';

const TOKEN = '7_restarted-secret';

describeInBrowser('the console of a process', () => {
  const browser = setUpBrowser();
  const dataDir = temporaryFolder();
  let database: TestDatabase;
  let settings: Record<string, string>;
  let service: ServeProcess;
  let http: HttpClient;

  beforeAll(async () => {
    build();
    database = await createDatabase({ empty: true });
    settings = {
      DATABASE_URL: database.url,
      TRADEWIND_PORT: String(await reservePort()),
      TRADEWIND_DATA_DIR: dataDir,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_LOG_LEVEL: 'debug',
      TRADEWIND_ACCESS_LOG: 'on',
      // No cluster is there before the process is killed.
      TRADEWIND_SIMULATION_SPEED: '0.01',
    };
    service = await serve(settings);
    http = createHttpClient(service.url, TOKEN);
  });
  afterAll(async () => {
    await service?.end();
    await database?.drop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  });

  /** The address that signs in, as an operator gets it. */
  function startAddress(): { address: string; code: string } {
    const { stdout, stderr } = runTradewind(['console'], settings);
    const [, address = '', code = ''] = /(http\S+#code=(\S+))/.exec(stdout) ?? [];
    expect(code, stderr).not.toBe('');
    return { address, code };
  }

  it('signs in with a code that is in no log, as little as the tokens that come of it', async () => {
    const { address, code } = startAddress();
    const { page } = await browser.visitAsStranger({ address: service.url });
    await page.goto(address);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const [{ value: refresh } = { value: '' }] = await page.context().cookies(`${service.url}/iam/auth/console/`);
    const logged = service.stdout() + service.stderr();
    expect(logged).toContain('/iam/auth/console/exchange');
    for (const secret of [code, refresh]) {
      expect(secret.length).toBeGreaterThan(15);
      expect(logged).not.toContain(secret);
    }
    // The worker of the pages has the access token, a JWT.
    expect(logged).not.toMatch(/eyJ[\w-]{20}/);
  });

  it('shows all that happened when the process was killed and another one has taken its place', async () => {
    const { page } = await browser.visitAsStranger({ address: service.url });
    await page.goto(startAddress().address);
    await page.getByText('Live', { exact: true }).waitFor();
    const body = await clusterBody(http);
    const [task = ''] = tasksIn((await http.post('/cloud/v1/k8s/clusters/1/1', body)).body);
    await page.getByRole('link', { name: 'Clusters' }).click();
    // The overview leads to its task by a longer name.
    await page.getByRole('link', { name: body.name, exact: true }).click();
    await page.getByRole('heading', { name: body.name, level: 1, exact: true }).waitFor();
    expect(['NEW', 'RUNNING']).toContain((await http.get(`/cloud/v1/tasks/${task}`)).body.state);
    browser.expectFaults(/ERR_|Failed to load/);
    await page.evaluate('globalThis.isTheSame = true');
    await service.end('SIGKILL');
    await page.getByText('Connecting', { exact: true }).waitFor();
    await page.evaluate(`history.pushState(null, '', '/console/p/1/r/1/clusters?page=2')`);
    const unread = page.locator('#main').getByRole('alert');
    await unread.waitFor();
    service = await serve(settings);
    await page.getByText('Live', { exact: true }).waitFor();
    await unread.waitFor({ state: 'detached' });
    await page.goBack();
    const pool = new pg.Pool({ connectionString: database.url });
    await hurried(pool, page.getByText('Provisioned').first().waitFor());
    await pool.end();
    await vi.waitFor(async () => expect((await http.get(`/cloud/v1/tasks/${task}`)).body.state).toBe('FINISHED'));
    expect(await page.evaluate('globalThis.isTheSame')).toBe(true);
    await page.getByRole('link', { name: 'Tasks' }).last().click();
    await page
      .getByRole('link', { name: /create/ })
      .first()
      .waitFor();
  });
});
