import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { SOON } from '../../../../test/support/http-client.ts';
import { cancelAiTask, listAiTasks } from '../service.ts';
import { deleteOldTasks, KEPT_DAYS } from '../store.ts';
import { limits, openWorkStage, type WorkStage } from './fixtures/work.ts';

const say = (message: object) => `say ${JSON.stringify(message)}`;
const result = {
  speech_detected: false,
  concatenated_text: '',
  subtitles: [],
  vttContent: 'WEBVTT\n',
  languages: [],
};
const OK = say({ type: 'result', result });
const SLEEPERS = 'start sleep 300\nstart sleep 301\nwrite\nhang';

let work: WorkStage;
beforeAll(async () => {
  work = await openWorkStage();
});
afterEach(() => work.endAll());
afterAll(() => work.close());

/** Limits with which only the test itself ends a fetch. */
const patient = { maxBytes: 1_000_000, idleMs: 60_000, totalMs: 60_000, bytesPerSecond: 0 };

const filesLeft = () =>
  fs
    .readdirSync(path.join(work.folder, 'ai'), { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^[^/]+(\/owner\.json)?$/.test(name));

const nothingIsLeft = () => vi.waitFor(() => expect([work.processes(), filesLeft()]).toEqual([[], []]), SOON);

const linesOf = (id: string) => work.logged.map((line) => JSON.parse(line)).filter(({ taskId }) => taskId === id);

test('a task is fetched, analysed in a child of its own, and ends with the result', async () => {
  const worker = await work.worker();
  const id = await work.task(
    [say({ type: 'stage', name: 'recognition' }), say({ type: 'facts', durationSeconds: 60 }), OK].join('\n'),
  );
  expect(await work.until(id, 'SUCCESS')).toMatchObject({ progress: 100, retries: 0, result });
  await nothingIsLeft();
  const lines = linesOf(id);
  expect(lines.map(({ stage, status }) => stage ?? status)).toEqual(['fetching', 'analysis', 'recognition', 'SUCCESS']);
  expect(JSON.stringify(lines)).not.toContain('hush');
  await worker.stop();
  expect(fs.readdirSync(path.join(work.folder, 'ai'))).toEqual([]);
  expect(await worker.registry.metrics()).toMatch(
    /tradewind_ai_task_ends_total\{kind="transcription",status="SUCCESS"\} 1/,
  );
});

test('the rate of a film is kept with its result, and that of sound is null', async () => {
  await work.worker();
  const film = await work.task([say({ type: 'facts', durationSeconds: 60, framesPerSecond: 29.97 }), OK].join('\n'));
  const sound = await work.task([say({ type: 'facts', durationSeconds: 60 }), OK].join('\n'));
  expect(await work.until(film, 'SUCCESS')).toMatchObject({ frame_rate: 29.97, result });
  expect(await work.until(sound, 'SUCCESS')).toMatchObject({ frame_rate: null, result });
});

test('progress is shown while the work goes on', async () => {
  await work.worker();
  const id = await work.task(`${say({ type: 'progress', percent: 50 })}\nhang`);
  await vi.waitFor(async () => expect((await work.read(id)).progress).toBe(54), SOON);
  expect(await work.read(id)).toMatchObject({ status: 'STARTED', completed_at: null });
  await cancelAiTask(work.stage.on, work.stage.principal, id);
  await nothingIsLeft();
});

test('a task that waits for its turn alone says nothing of an engine', async () => {
  const [busy, next] = [await work.task('hang'), await work.task(OK)];
  await work.worker();
  await vi.waitFor(async () => expect((await work.read(busy)).status).toBe('STARTED'), SOON);
  expect(await work.read(next)).toMatchObject({ status: 'PENDING', waitingFor: undefined });
  await cancelAiTask(work.stage.on, work.stage.principal, busy);
  await work.until(next, 'SUCCESS');
});

test('the child sees nothing of the environment and is where its files are', async () => {
  await work.worker();
  const id = await work.task('echo');
  const { result: told } = await work.until(id, 'FAILURE');
  const seen = JSON.parse((told as { error: string }).error);
  const folder = expect.stringMatching(`^${work.folder}/ai/.*/${id}$`);
  expect(seen).toEqual({
    cwd: folder,
    user: process.getuid?.(),
    environment: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
  });
});

test('a medium that is no good fails with its reason and is not tried again', async () => {
  const worker = await work.worker();
  const unfit = await work.task(say({ type: 'failed', reason: 'There is no audio track' }));
  expect(await work.until(unfit, 'FAILURE')).toMatchObject({
    retries: 0,
    result: { error: 'There is no audio track' },
  });
  const away = await work.task('');
  expect(await work.until(away, 'FAILURE')).toMatchObject({
    retries: 0,
    result: { error: expect.stringContaining('0 bytes') },
  });
  await worker.stop();
  expect(await worker.registry.metrics()).toMatch(
    /tradewind_ai_task_failures_total\{kind="transcription",reason="unusable"\} 1/,
  );
});

test.each([
  ['ends without a result', 'complain out of luck\nexit 3'],
  ['reports a fault', say({ type: 'fault', message: 'out of luck' })],
  ['says what it should not', say({ type: 'result', result: 7 })],
  ['says no JSON', 'say garbage'],
  ['speaks to Node itself', say({ cmd: 'NODE_HANDLE', type: 'net.Native' })],
  ['says what no database keeps', say({ type: 'result', result: { ...result, concatenated_text: 'a\0' } })],
  ['breaks a letter in two', say({ type: 'failed', reason: 'a\ud800' })],
  ['never ends its line', 'flood [[[[[[[[['],
  ['never stops talking', `flood ${JSON.stringify({ type: 'stage', name: 'recognition' })}|`],
])('a child that %s is a fault of ours: three more tries, then FAILURE', async (_, script) => {
  await work.worker();
  const once = await work.task(script, { later: OK });
  expect(await work.until(once, 'SUCCESS')).toMatchObject({ retries: 1 });
  const always = await work.task(script);
  const { retries, result: shown } = await work.until(always, 'FAILURE');
  expect(retries).toBe(3);
  expect(shown).toEqual({ error: expect.stringMatching(/internal error, 4 times.*log/) });
  await nothingIsLeft();
});

test('after a fault the next try waits for its time', async () => {
  await work.worker({ retryPausesMs: [3_600_000] });
  const id = await work.task('exit 1', { later: OK });
  await work.until(id, 'RETRY');
  const other = await work.task(OK);
  await work.until(other, 'SUCCESS');
  expect(await work.read(id)).toMatchObject({ status: 'RETRY', retries: 1, completed_at: null });
  await cancelAiTask(work.stage.on, work.stage.principal, id);
});

test('cancelling kills all that the task started, and its files go', async () => {
  await work.worker();
  const id = await work.task(SLEEPERS);
  await vi.waitFor(() => expect(work.processes()).toHaveLength(3), SOON);
  await cancelAiTask(work.stage.on, work.stage.principal, id);
  expect((await work.read(id)).status).toBe('REVOKED');
  await nothingIsLeft();
  const next = await work.task(OK);
  await work.until(next, 'SUCCESS');
  expect(await work.read(id)).toMatchObject({ status: 'REVOKED', result: null });
});

test('a cancellation that nobody announced is seen as well', async () => {
  await work.worker();
  const id = await work.task('hang');
  await vi.waitFor(() => expect(work.processes()).toHaveLength(1), SOON);
  expect(await work.stage.advance(id, { to: 'REVOKED' })).toBe(true);
  await nothingIsLeft();
});

test('an analysis that takes longer than its medium may take is ended', async () => {
  await work.worker({ limits: { ...limits, wallSeconds: () => 1 } });
  const id = await work.task(`${say({ type: 'facts', durationSeconds: 1 })}\n${SLEEPERS}`);
  expect(await work.until(id, 'FAILURE')).toMatchObject({
    retries: 0,
    result: { error: expect.stringContaining('longer than the 1 seconds') },
  });
  await nothingIsLeft();
});

test('an analysis that fills the disk is ended where nothing else limits what it writes', async () => {
  const writing = { ...limits, analysis: { ...limits.analysis, writtenBytes: 5_000_000 } };
  await work.worker({ limits: writing });
  const little = await work.task(`fill 3\n${OK}`);
  await work.until(little, 'SUCCESS');
  const much = await work.task('fill 20\nstart sleep 300\nhang');
  expect(await work.until(much, 'FAILURE')).toMatchObject({
    retries: 0,
    result: { error: expect.stringContaining('wrote more than 5 MB') },
  });
  await nothingIsLeft();
});

test('the oldest of an account goes first, and one account has one task in work', async () => {
  const other = await work.stage.anotherClient();
  const first = await work.task('hang');
  const second = await work.task(OK);
  const others = await work.task('hang', { principal: other });
  await work.worker({ concurrency: 3 });
  await work.until(first, 'STARTED');
  await work.until(others, 'STARTED');
  expect((await work.read(second)).status).toBe('PENDING');
  await cancelAiTask(work.stage.on, work.stage.principal, first);
  await work.until(second, 'SUCCESS');
  expect((await work.read(others)).status).toBe('STARTED');
  await cancelAiTask(work.stage.on, other, others);
  await nothingIsLeft();
});

test('accounts take turns: many tasks of one do not keep another waiting', async () => {
  const [busy, modest] = [await work.stage.anotherClient(), await work.stage.anotherClient()];
  const ids: string[] = [];
  for (const principal of [busy, busy, busy, modest]) ids.push(await work.task(OK, { principal }));
  await work.worker();
  const tasks: Awaited<ReturnType<typeof work.until>>[] = [];
  for (const id of ids) tasks.push(await work.until(id, 'SUCCESS'));
  const inOrder = tasks.sort((a, b) => Number(a.started_at) - Number(b.started_at));
  expect(inOrder.map((task) => ids.indexOf(task.id))).toEqual([0, 3, 1, 2]);
});

test('a file that comes slowly holds up its own account alone', async () => {
  const other = await work.stage.anotherClient();
  let open = () => {};
  const whole = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = await work.task(OK, { whole });
  const own = await work.task(OK);
  const theirs = [await work.task(OK, { principal: other }), await work.task(OK, { principal: other })];
  await work.worker({ perClient: 2, fetching: { ...work.fetching, limits: patient } });
  for (const id of theirs) await work.until(id, 'SUCCESS');
  expect([(await work.read(slow)).status, (await work.read(own)).status]).toEqual(['STARTED', 'PENDING']);
  open();
  await work.until(slow, 'SUCCESS');
  await work.until(own, 'SUCCESS');
  await nothingIsLeft();
});

test('a task whose slow file is there waits for its turn, and ends when it is cancelled there', async () => {
  const other = await work.stage.anotherClient();
  let open = () => {};
  const whole = new Promise<void>((resolve) => {
    open = resolve;
  });
  await work.worker({ fetching: { ...work.fetching, limits: patient } });
  const slow = await work.task('hang', { whole });
  await work.until(slow, 'STARTED');
  const busy = await work.task('hang', { principal: other });
  await work.until(busy, 'STARTED');
  await vi.waitFor(() => expect(work.processes()).toHaveLength(1), SOON);
  open();
  await vi.waitFor(async () => expect((await work.read(slow)).progress).toBe(10), SOON);
  expect(work.processes()).toHaveLength(1);
  await cancelAiTask(work.stage.on, work.stage.principal, slow);
  await vi.waitFor(() => expect(filesLeft().filter((name) => name.includes(slow))).toEqual([]), SOON);
  expect(await work.read(busy)).toMatchObject({ status: 'STARTED' });
  await cancelAiTask(work.stage.on, other, busy);
  await nothingIsLeft();
});

test('a task that is in the hands of a worker without its knowing is done all the same', async () => {
  const other = await work.stage.anotherClient();
  const busy = await work.task('hang', { principal: other });
  await work.worker();
  await work.until(busy, 'STARTED');
  const id = await work.task(OK);
  // As if the answer to its claim had been lost.
  await work.stage.database.pool.query(
    `with claim as (
       insert into ai_task_runs (task_id, client_id, worker_id)
       select $1, $2, worker_id from ai_task_runs where task_id = $3)
     update ai_tasks set status = 'STARTED', started_at = now() where id = $1`,
    [id, work.stage.clientId, busy],
  );
  await cancelAiTask(work.stage.on, other, busy);
  expect(await work.until(id, 'SUCCESS')).toMatchObject({ retries: 0 });
});

test('of several workers one has each task', async () => {
  const others = await Promise.all([1, 2, 3, 4, 5].map(() => work.stage.anotherClient()));
  const ids = await Promise.all(
    others.flatMap((principal) => [work.task(OK, { principal }), work.task(OK, { principal })]),
  );
  await Promise.all([work.worker({ concurrency: 2 }), work.worker({ concurrency: 2 })]);
  for (const id of ids) await work.until(id, 'SUCCESS');
  for (const id of ids) expect(linesOf(id).filter(({ stage }) => stage === 'fetching')).toHaveLength(1);
});

test('a task waits for a worker that can do it', async () => {
  await work.worker({ capabilities: { categories: ['nsfw'] } });
  expect(work.logged.some((line) => line.includes('"waiting":["transcription"]'))).toBe(true);
  const speech = await work.task(OK);
  const picture = await work.task(OK, { category: 'nsfw' });
  await work.until(picture, 'SUCCESS');
  expect(await work.read(speech)).toMatchObject({ status: 'PENDING', started_at: null });
  await work.worker();
  await work.until(speech, 'SUCCESS');
});

test('a worker that stops gives its task back, and another does it', async () => {
  const first = await work.worker();
  const id = await work.task('hang', { later: OK });
  await vi.waitFor(() => expect(work.processes()).toHaveLength(1), SOON);
  await first.stop();
  expect(await work.read(id)).toMatchObject({ status: 'PENDING', retries: 0 });
  expect([work.processes(), filesLeft()]).toEqual([[], []]);
  await work.worker();
  await work.until(id, 'SUCCESS');
});

async function taskOfDeadWorker(losses: number): Promise<string> {
  const { pool } = work.stage.database;
  const id = await work.task(OK);
  await work.stage.advance(id, { to: 'STARTED' });
  const { rows } = await pool.query(
    `insert into workers (id, host, pid, capabilities, beat_at)
     values (gen_random_uuid(), 'elsewhere', 1, '{"categories": []}', now() - interval '9 seconds') returning id`,
  );
  await pool.query('insert into ai_task_runs (task_id, client_id, worker_id) values ($1, $2, $3)', [
    id,
    work.stage.clientId,
    rows[0].id,
  ]);
  await pool.query('update ai_tasks set losses = $2 where id = $1', [id, losses]);
  return id;
}

test('the task of a worker that died is done by another', async () => {
  const id = await taskOfDeadWorker(0);
  await work.worker();
  expect(await work.until(id, 'SUCCESS')).toMatchObject({ retries: 0 });
});

test('a task that many workers died over is given up', async () => {
  const id = await taskOfDeadWorker(10);
  await work.worker();
  expect((await work.until(id, 'FAILURE')).result).toEqual({
    error: expect.stringContaining('stopped too many'),
  });
});

test('a start removes what dead processes left, and nothing else', async () => {
  const root = path.join(work.folder, 'ai');
  await work.worker();
  const [own = ''] = fs.readdirSync(root);
  const owned = (owner: object) => {
    const id = randomUUID();
    fs.mkdirSync(path.join(root, id, 'task'), { recursive: true });
    fs.writeFileSync(path.join(root, id, 'owner.json'), JSON.stringify(owner));
    return id;
  };
  const { host, startedAt } = JSON.parse(fs.readFileSync(path.join(root, own, 'owner.json'), 'utf8'));
  owned({ host, pid: 2 ** 22 + 1, startedAt });
  owned({ host, pid: process.pid, startedAt: `${startedAt}0` });
  owned({ host: 'elsewhere', pid: 1, startedAt });
  // As if another worker of this process had ended.
  owned({ host, pid: process.pid, startedAt });
  fs.mkdirSync(path.join(root, 'not-ours'));
  await work.worker();
  await vi.waitFor(() => expect(fs.readdirSync(root)).toHaveLength(3), SOON);
  expect(fs.readdirSync(root)).toEqual(expect.arrayContaining([own, 'not-ours']));
  fs.rmdirSync(path.join(root, 'not-ours'));
});

test('tasks that ended a month ago are deleted, and counts know it', async () => {
  const { database, principal } = work.stage;
  const old = await work.task(OK);
  const young = await work.task(OK);
  for (const id of [old, young]) await cancelAiTask(work.stage.on, principal, id);
  const waiting = await work.task(OK);
  const all = await listAiTasks(work.stage.on, principal, { page: 1, limit: 1 });
  await database.pool.query(
    `update ai_tasks set created_at = created_at - interval '${KEPT_DAYS} days',
       completed_at = completed_at - interval '${KEPT_DAYS} days' where id = $1`,
    [old],
  );
  expect(await deleteOldTasks(database, { now: () => new Date() })).toBe(1);
  await expect(work.read(old)).rejects.toThrow('not found');
  expect((await work.read(young)).status).toBe('REVOKED');
  expect((await listAiTasks(work.stage.on, principal, { page: 1, limit: 1 })).count).toBe(all.count - 1);
  await cancelAiTask(work.stage.on, principal, waiting);
});
