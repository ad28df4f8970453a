import { setTimeout as sleep } from 'node:timers/promises';
import { launchChromium, type Page, signIn } from '../../test/support/chromium.ts';
import { fillAiTasks } from '../ai/lists.ts';
import { type Api, createApi } from '../support/api.ts';
import { startDatabase } from '../support/database.ts';
import { startProduct, TOKEN } from '../support/product.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const SLOWER = 4;
const TARGETS = { list: 500, aiList: 1_000, input: 100 };
const HERE = '/console/p/1/r/1';
/** In the rail, with what makes one of many. */
const LISTS: readonly (readonly [
  text: string,
  address: string,
  make?: (number: number) => [path: string, body: object],
])[] = [
  [
    'Security groups',
    `${HERE}/security-groups`,
    (at) => ['/cloud/v1/securitygroups/1/1', { security_group: { name: `group-${at}` } }],
  ],
  ['Networks', `${HERE}/networks`, (at) => ['/cloud/v1/networks/1/1', { name: `network-${at}`, create_router: false }]],
  [
    'Volumes',
    `${HERE}/volumes`,
    (at) => ['/cloud/v1/volumes/1/1', { source: 'new-volume', name: `volume-${at}`, size: 1 }],
  ],
  ['Reserved fixed IPs', `${HERE}/reserved-ips`, () => ['/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' }]],
  ['Load balancers', `${HERE}/load-balancers`, (at) => ['/cloud/v1/loadbalancers/1/1', { name: `balancer-${at}` }]],
  ['Routers', `${HERE}/routers`, (at) => ['/cloud/v1/routers/1/1', { name: `router-${at}` }]],
  ['SSH keys', `${HERE}/ssh-keys`, (at) => ['/cloud/v1/ssh_keys/1', { name: `key-${at}` }]],
  ['Tasks', `${HERE}/tasks`],
  ['Audit', '/console/account/audit'],
];
const aiQueries = (tasks: number): string[] => [
  '',
  'status=REVOKED',
  'task_name=transcription',
  'ordering=started_at',
  'search=batch-0123',
  // A page far behind.
  `page=${Math.min(1_000, tasks / 100)}`,
];
/** A page that shows no row by then is broken. */
const LONGEST_MS = 60_000;

/** Measures how long pages take to show rows, with a processor that is made slower, and what many events do to typing. */
export async function measureConsole({ quick }: { quick: boolean }): Promise<string> {
  const [resources, rounds, aiTasks, seconds] = quick ? [30, 3, 10_000, 2] : [300, 20, 1_000_000, 10];
  const database = await startDatabase();
  const product = await startProduct({ DATABASE_URL: database.url, TRADEWIND_SIMULATION_SPEED: '1000' });
  const browser = await launchChromium();
  try {
    const api = createApi(product.port);
    process.stderr.write(`${resources} things of each kind, ${shown(aiTasks)} AI tasks ...\n`);
    await fill(api, resources);
    await fillAiTasks(database, aiTasks);
    const page = await browser.newPage();
    const tools = await page.context().newCDPSession(page);
    await signIn(page, `http://127.0.0.1:${product.port}`, TOKEN);
    await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    const rows: string[][] = [];
    for (const [text, address] of LISTS) {
      process.stderr.write(`${text} ...\n`);
      rows.push(row(text, TARGETS.list, await timesOf(page, Array<string>(rounds).fill(address))));
    }
    await tools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    process.stderr.write('AI tasks ...\n');
    const queries = Array.from({ length: rounds }, () =>
      aiQueries(aiTasks).map((query) => `/console/ai-tasks?${query}`),
    ).flat();
    rows.push(row(`AI tasks, of ${shown(aiTasks)}`, TARGETS.aiList, await timesOf(page, queries)));
    process.stderr.write('typing ...\n');
    rows.push(
      row(`a key while ${100 * seconds} events come`, TARGETS.input, await typedDuringEvents(page, api, seconds)),
    );
    return `${markdownTable(['page', 'ms, median', 'ms, p95', 'target'], rows)}\n\nThe lists but for AI tasks have ${resources} rows, and a processor ${SLOWER} times as slow.`;
  } finally {
    await browser.close();
    await product.stop();
    await database.stop();
  }
}

const row = (name: string, target: number, times: readonly number[]): string[] => {
  const slow = percentile(times, 0.95);
  return [name, shown(percentile(times, 0.5)), shown(slow), `${slow > target ? 'MISSED ' : ''}${target}`];
};

async function fill(api: Api, resources: number): Promise<void> {
  for (const [, , make] of LISTS) {
    if (!make) continue;
    for (let at = 0; at < resources; at++) await api.call('POST', ...make(at));
  }
  for (let running = 1; running > 0; await sleep(200)) {
    ({ count: running } = (await api.call('GET', '/cloud/v1/tasks?state=NEW&state=RUNNING&limit=1')) as {
      count: number;
    });
  }
}

/** Goes to each page from another one, by a link as it were, and returns the milliseconds until its rows are painted. */
async function timesOf(page: Page, addresses: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const address of addresses) {
    // Nothing that was read before is shown.
    await page.goto(new URL('/console/operations/listRegions', page.url()).href);
    await page.locator('main h1').waitFor();
    times.push(
      await page.evaluate<number>(`new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error('no rows at ' + location)), ${LONGEST_MS});
        const begun = performance.now();
        history.pushState(null, '', ${JSON.stringify(address)});
        const look = () => document.querySelector('main tbody tr')
          ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)))
          : requestAnimationFrame(look);
        look();
      })`),
    );
  }
  return times;
}

/** Types while others change things, and returns the milliseconds from each key to what it paints. */
async function typedDuringEvents(page: Page, api: Api, seconds: number): Promise<number[]> {
  await page.evaluate(`history.pushState(null, '', '${HERE}/volumes')`);
  const field = page.getByLabel('Part of the name');
  await field.focus();
  await page.evaluate(`{
    globalThis.took = [];
    new PerformanceObserver((list) => took.push(...list.getEntries().filter(({ name }) => name === 'keydown').map(({ duration }) => duration)))
      .observe({ type: 'event', durationThreshold: 16 });
  }`);
  let over = false;
  const events = (async () => {
    for (let at = 0; at < 100 * seconds; at++) {
      await Promise.all([api.call('PATCH', '/cloud/v1/projects/1', { description: `change ${at}` }), sleep(10)]);
    }
    over = true;
  })();
  let keys = 0;
  for (; !over; keys++) {
    await page.keyboard.press(keys % 8 === 7 ? 'Backspace' : 'v');
    await sleep(50);
  }
  await events;
  const slow = await page.evaluate<number[]>('took');
  // Those that took less than the browser tells of.
  return [...slow, ...Array<number>(keys - slow.length).fill(8)];
}
