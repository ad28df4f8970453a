import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../../test/support/http-client.ts';
import { newPerson } from '../../../../test/support/logins.ts';
import { asResellerOf } from '../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../test/support/service.ts';

const BUDGETS = '/tradewind/v1/budgets';
const HOUR = 3_600_000;
const SOON = { timeout: 60_000 };

const mails = path.join(os.tmpdir(), `mails-${randomBytes(8).toString('hex')}`);
let at = Date.UTC(2026, 2, 10, 12);
let service: TestService;
let tenant: Tenant;
/** The administrator of the tenant's reseller. */
let reseller: HttpClient;
let second: number;
beforeAll(async () => {
  service = await startService({ TRADEWIND_MAIL_DIR: mails }, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
  reseller = await asResellerOf(service, 1);
  second = (await tenant.http.post('/cloud/v1/projects', { name: 'Second' })).body.id;
});
afterAll(async () => {
  await service.stop();
  await fs.rm(mails, { recursive: true, force: true });
});

const newVolume = (project = tenant.projectId, size = 1_000) =>
  tenant.http.post(`/cloud/v1/volumes/${project}/1`, {
    source: 'new-volume',
    name: 'spent',
    size,
    type_name: 'standard',
  });

async function set(budget: object, http = tenant.http) {
  const answer = await http.post(BUDGETS, budget);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** What the costs of the month say until then, of the account or of a project. */
async function costs(until: string, project?: number): Promise<number> {
  const of = project === undefined ? '' : `&project_id=${project}`;
  const time = `from=2026-03-01T00:00:00Z&to=${until}`;
  const { body } = await tenant.http.get(`/tradewind/v1/costs?${time}&limit=1000&by=project${of}`);
  return body.lines.reduce((sum: number, { cost }: { cost: number }) => sum + cost, 0);
}

/** Lets time pass, and returns the budget as it was counted afterwards. */
async function counted(id: number, hours: number, http = tenant.http) {
  at += hours * HOUR;
  const now = Math.floor(at / 1_000) * 1_000;
  return vi.waitFor(async () => {
    // What was counted in the moment of the leap is counted again a minute later.
    at += 10_000;
    const { body } = await http.get(`${BUDGETS}/${id}`);
    expect(Date.parse(body.counted_at)).toBeGreaterThanOrEqual(now);
    return body;
  }, SOON);
}

async function mailsSaying(subject: string): Promise<string[]> {
  const files = await fs.readdir(mails).catch(() => []);
  const all = await Promise.all(files.map(async (file) => PostalMime.parse(await fs.readFile(path.join(mails, file)))));
  return all.flatMap((mail) => (mail.subject?.includes(subject) ? [mail.text ?? ''] : []));
}

/** Waits for a mail. A change of a budget may come just after a count: the next one is a minute later. */
const warned = (subject: string) =>
  vi.waitFor(async () => {
    at += 10_000;
    expect(await mailsSaying(subject)).toHaveLength(1);
  }, SOON);

it('counts what the account and each project have spent, as cost reports do', async () => {
  expect((await newVolume()).status).toBe(200);
  expect((await newVolume(second, 500)).status).toBe(200);
  const whole = await set({ amount: 1_000_000 });
  const of = await set({ amount: 1_000_000, project_id: second });
  expect(whole).toMatchObject({ spent: null, month: null, is_spent: false, set_by: 'account', warn_at: [50, 80, 100] });
  const { spent, month, counted_at } = await counted(whole.id, 10);
  expect([spent, month]).toEqual([expect.closeTo(await costs(counted_at), 4), '2026-03']);
  const project = await counted(of.id, 0);
  expect(project.spent).toBeGreaterThan(0);
  expect(project.spent).toBeCloseTo(await costs(project.counted_at, second), 4);
  const listed = (await tenant.http.get(`${BUDGETS}?project_id=${second}`)).body.results;
  expect(listed.map(({ id }: { id: number }) => id)).toEqual([of.id]);
  for (const { id } of [whole, of]) expect((await tenant.http.delete(`${BUDGETS}/${id}`)).status).toBe(204);
  expect((await tenant.http.get(`${BUDGETS}/${of.id}`)).status).toBe(404);
});

it('warns administrators once in a month for each percentage, by mail and event', async () => {
  const person = await newPerson(service.http, { company: 'Thrifty' });
  // Logins end before a month does.
  const token = { name: 'Counting', exp_date: null, client_user: { role: { id: 1 } } };
  const made = await person.http.post(`/iam/clients/${person.clientId}/tokens`, token);
  const http = createHttpClient(service.url, made.body.token);
  const { id: project } = (await http.get('/cloud/v1/projects')).body.results[0];
  const body = { source: 'new-volume', name: 'spent', size: 1_000, type_name: 'standard' };
  expect((await http.post(`/cloud/v1/volumes/${project}/1`, body)).status).toBe(200);
  const { id } = await set({ amount: 1_000_000, warn_at: [60, 10] }, http);
  const spentAfter = async (hours: number) => (await counted(id, hours, http)).spent;
  const spent = await spentAfter(5);
  expect(await mailsSaying('Thrifty has spent')).toEqual([]);
  const changed = await http.patch(`${BUDGETS}/${id}`, { amount: Math.ceil(spent * 5) });
  expect(changed.body).toMatchObject({ amount: Math.ceil(spent * 5), warn_at: [10, 60] });
  await warned('Thrifty has spent 10 % of a budget');
  await spentAfter(1);
  await spentAfter(1);
  expect(await mailsSaying('Thrifty has spent')).toHaveLength(1);
  await spentAfter(10);
  await warned('Thrifty has spent 60 % of a budget');
  const events = (await http.get('/tradewind/v1/events?cursor=oldest&type=tradewind.budget.reached')).body;
  expect(events.events.map(({ subject }: { subject: string }) => subject)).toEqual([`budget/${id}`, `budget/${id}`]);
});

it('lets nothing new be made once it is spent, in its project or the account, until it is raised or the month ends', async () => {
  const { id } = await set({ amount: 0.01, project_id: second, stops_creation: true });
  expect(await counted(id, 1)).toMatchObject({ is_spent: true });
  const refused = await newVolume(second);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(`/tradewind/v1/budgets/${id}`)]);
  expect(refused.text).toContain(`The budget of project ${second} for 2026-03 is spent`);
  const topics = `/cloud/v1/laas/${second}/1/topics`;
  await tenant.http.patch(`/cloud/v1/laas/${second}/1/status`, { is_initialized: true });
  expect((await tenant.http.put(topics, { name: 'spent' })).body.message).toContain('is spent');
  expect((await newVolume()).status).toBe(200);
  const whole = await set({ amount: 0.01, stops_creation: true });
  expect(await counted(whole.id, 1)).toMatchObject({ is_spent: true });
  expect((await newVolume()).text).toContain('is spent');
  await tenant.http.patch(`${BUDGETS}/${whole.id}`, { amount: 1_000_000 });
  expect((await newVolume()).status).toBe(200);
  expect((await newVolume(second)).status).toBe(403);
  // What is there may go.
  const [{ id: volume }] = (await tenant.http.get(`/cloud/v1/volumes/${second}/1`)).body.results;
  expect((await tenant.http.delete(`/cloud/v1/volumes/${second}/1/${volume}`)).status).toBe(200);
  at = Date.UTC(2026, 3, 1);
  expect((await newVolume(second)).status).toBe(200);
  expect(await counted(id, 1)).toMatchObject({ month: '2026-04', is_spent: true });
});

it('may be set by the reseller, and then the account sees it but does not change it', async () => {
  const { id } = await set({ client_id: tenant.clientId, amount: 5_000, stops_creation: true }, reseller);
  expect((await tenant.http.get(`${BUDGETS}/${id}`)).body).toMatchObject({ set_by: 'reseller', amount: 5_000 });
  for (const refused of [
    await tenant.http.patch(`${BUDGETS}/${id}`, { amount: 6_000 }),
    await tenant.http.delete(`${BUDGETS}/${id}`),
  ])
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('set by your reseller')]);
  const listed = (await reseller.get(`${BUDGETS}?client_id=${tenant.clientId}`)).body.results;
  expect(listed[0]).toMatchObject({ id });
  expect((await reseller.patch(`${BUDGETS}/${id}`, { warn_at: [] })).body).toMatchObject({ warn_at: [] });
  expect((await reseller.delete(`${BUDGETS}/${id}`)).status).toBe(204);
});

it('is refused twice for the same, in parts of cents, and for what is not theirs', async () => {
  const stranger = await newPerson(service.http);
  const { id } = await set({ amount: 7 }, stranger.http);
  expect((await stranger.http.post(BUDGETS, { amount: 8 })).status).toBe(409);
  expect((await stranger.http.post(BUDGETS, { amount: 0.001 })).text).toContain('whole cents');
  for (const body of [{ project_id: second }, { client_id: tenant.clientId }]) {
    expect((await stranger.http.post(BUDGETS, { amount: 8, ...body })).status).toBe(404);
  }
  expect((await tenant.http.get(`${BUDGETS}/${id}`)).status).toBe(404);
  expect((await tenant.http.patch(`${BUDGETS}/${id}`, { amount: 9 })).status).toBe(404);
  expect((await tenant.http.delete(`${BUDGETS}/${id}`)).status).toBe(404);
});

it('shows an account that may not see prices nothing of what it has spent', async () => {
  const person = await newPerson(service.http);
  const hidden = { scope: 'client', id: person.clientId, visible: false };
  const { status, text } = await reseller.post('/tradewind/v1/price_lists', hidden);
  expect(status, text).toBe(201);
  at += 2_000;
  expect((await person.http.post(BUDGETS, { amount: 5 })).status).toBe(409);
  const { id } = await set({ client_id: person.clientId, amount: 5 }, reseller);
  await vi.waitFor(async () => expect((await reseller.get(`${BUDGETS}/${id}`)).body.spent).toBe(0), SOON);
  expect((await person.http.get(`${BUDGETS}/${id}`)).body).toMatchObject({ spent: null, month: '2026-04' });
});
