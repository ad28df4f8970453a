import { afterAll, beforeAll, expect, test } from 'vitest';
import { InvalidError } from '../../lib/errors.ts';
import { openStage, type Stage } from './fixtures/ai-tasks.ts';
import type { CreateAiTask } from './schema.ts';
import { type AiTaskListRequest, createAiTask, listAiTasks } from './service.ts';
import type { Step } from './store.ts';

let stage: Stage;
const ids: Record<string, string> = {};

const NSFW = { task_name: 'content-moderation', category: 'nsfw' } as const;
const started: Step = { to: 'STARTED' };

/** Tasks by name: creation time, contents, and each step with its time. */
const TASKS: [name: string, created: string, body: CreateAiTask, steps: [string, Step][]][] = [
  ['waiting', '2026-11-19T08:00:00Z', transcription('https://a.example/50%25_off.mp4'), []],
  [
    'received',
    '2026-11-19T09:00:00Z',
    { ...NSFW, url: 'https://b.example/x.jpg' },
    [['2026-11-19T09:01:00Z', { to: 'RECEIVED' }]],
  ],
  [
    'early',
    '2026-11-20T23:59:59.999Z',
    transcription('https://a.example/EARLY.mp4'),
    [['2026-11-21T01:00:00Z', started]],
  ],
  [
    'failed',
    '2026-11-21T00:00:00Z',
    { ...NSFW, url: 'https://b.example/y.jpg', client_user_id: '100%' },
    [
      ['2026-11-21T02:00:00Z', started],
      ['2026-11-21T02:00:01Z', { to: 'FAILURE', result: { error: 'no picture' } }],
    ],
  ],
  [
    'retried',
    '2026-11-21T10:15:30.500Z',
    { ...NSFW, url: 'https://b.example/z.jpg', client_user_id: 'a_b\\c' },
    [
      ['2026-11-21T11:00:00Z', started],
      ['2026-11-21T11:00:01Z', { to: 'RETRY' }],
    ],
  ],
  [
    'done',
    '2026-11-21T10:15:31Z',
    { ...transcription('https://c.example/done.mp4'), audio_language: 'ger' },
    [
      ['2026-11-21T12:00:00Z', started],
      ['2026-11-21T12:00:01Z', { to: 'SUCCESS', result: { speech_detected: false } }],
    ],
  ],
  [
    'revoked',
    '2026-11-22T00:00:00Z',
    { ...transcription('https://c.example/straße.mp4'), client_entity_data: 'Ünï日本' },
    [['2026-11-22T01:00:00Z', { to: 'REVOKED' }]],
  ],
];

function transcription(url: string): CreateAiTask {
  return { task_name: 'transcription', url };
}

beforeAll(async () => {
  stage = await openStage();
  for (const [name, created, body, steps] of TASKS) {
    stage.at(created);
    const id = await createAiTask(stage.on, stage.principal, body);
    ids[name] = id;
    for (const [time, step] of steps) {
      stage.at(time);
      if (!(await stage.advance(id, step))) throw new Error(`${name} could not become ${step.to}`);
    }
  }
});
afterAll(() => stage.close());

async function names(request: Partial<AiTaskListRequest>): Promise<string[]> {
  const { count, rows } = await listAiTasks(stage.on, stage.principal, { page: 1, limit: 1000, ...request });
  expect(count).toBe(rows.length);
  return rows.map(nameOf);
}

const nameOf = ({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id) ?? id;

const ALL = ['revoked', 'received', 'waiting', 'done', 'retried', 'failed', 'early'];

test('tasks that have not started come first, newest first, then the latest start', async () => {
  expect(await names({})).toEqual(ALL);
});

test.each([
  ['started_at', ['early', 'failed', 'retried', 'done', 'waiting', 'received', 'revoked']],
  ['status', ['failed', 'waiting', 'received', 'retried', 'revoked', 'early', 'done']],
  ['task_name', ['received', 'retried', 'failed', 'revoked', 'waiting', 'done', 'early']],
] as const)('in order of %s', async (ordering, expected) => {
  expect(await names({ ordering })).toEqual(expected);
});

test('in order of the id', async () => {
  const { rows } = await listAiTasks(stage.on, stage.principal, {
    page: 1,
    limit: 1000,
    ordering: 'task_id',
  });
  expect(rows.map((row) => row.id)).toEqual(Object.values(ids).sort());
});

test.each([
  ['2026-11-21', ['done', 'retried', 'failed']],
  ['2026-11-20', ['early']],
  ['2026-11', ALL],
  ['2025', []],
  ['2026-11-21T10', ['done', 'retried']],
  ['2026-11-21T10:15Z', ['done', 'retried']],
  ['2026-11-21T10:15:30', ['retried']],
  ['2026-11-21T10:15:30.5Z', ['retried']],
  ['2026-11-21T10:15:30.500000Z', ['retried']],
  ['2026-11-21T10:15:30.4Z', []],
  ['2026-11-21T12:15:30+02:00', ['retried']],
  ['2026-11-21T12:15:30 02:00', ['retried']],
  ['9999-12-31T23:59:59.999999-14:00', []],
])('created in %s', async (date_created, expected) => {
  expect(await names({ date_created })).toEqual(expected);
});

test.each(['2026-02-30', 'today', '2026-11-21T25:00'])('%s is no time', async (date_created) => {
  await expect(names({ date_created })).rejects.toThrow(InvalidError);
});

test.each([
  ['FAILURE', ['failed']],
  ['PENDING', ['waiting']],
  ['RECEIVED', ['received']],
  ['RETRY', ['retried']],
  ['REVOKED', ['revoked']],
  ['STARTED', ['early']],
  ['SUCCESS', ['done']],
] as const)('status %s', async (status, expected) => {
  expect(await names({ status })).toEqual(expected);
});

test('by id in any letter case; text that is no id matches nothing', async () => {
  expect(await names({ task_id: ids.done?.toUpperCase() ?? '' })).toEqual(['done']);
  expect(await names({ task_id: 'task_id' })).toEqual([]);
});

test.each([
  ['NSFW', ['received', 'retried', 'failed']],
  ['B.Example', ['received', 'retried', 'failed']],
  ['early.mp4', ['early']],
  ['transcript', ['revoked', 'waiting', 'done', 'early']],
  // A status, part of a status, and a text that occurs in statuses as well as in values.
  ['success', ['done']],
  ['rev', ['revoked']],
  // Occurs in REVOKED, RECEIVED and RETRY, and at the end of FAILURE.
  ['re', ['revoked', 'received', 'retried', 'failed']],
  ['ger', ['done']],
  ['%', ['waiting', 'failed']],
  ['100%', ['failed']],
  ['_', ['waiting', 'retried']],
  ['a_b', ['retried']],
  ['\\', ['retried']],
  ['STRASSE', []],
  ['straße', ['revoked']],
  ['ÜNÏ', ['revoked']],
  ['日本', ['revoked']],
  ['§', []],
  ['https://a.example/early.mp4\u001f', []],
  ['nothing of the kind', []],
])('search %j', async (search, expected) => {
  // Asked twice, since the second answer uses what is remembered of the first.
  expect(await names({ search })).toEqual(expected);
  expect(await names({ search })).toEqual(expected);
});

test('search finds a part of the id and the account', async () => {
  expect(await names({ search: ids.failed?.slice(4, 30) ?? '' })).toEqual(['failed']);
  expect(await names({ search: String(stage.clientId) })).toEqual(ALL);
});

test('filters narrow each other', async () => {
  expect(await names({ search: 'b.example', status: 'FAILURE' })).toEqual(['failed']);
  expect(await names({ search: 'fail', status: 'FAILURE' })).toEqual(['failed']);
  expect(await names({ search: 'fail', status: 'RETRY' })).toEqual([]);
  expect(await names({ search: 'b.example', date_created: '2026-11-21', ordering: 'started_at' })).toEqual([
    'failed',
    'retried',
  ]);
  expect(await names({ task_name: 'transcription', status: 'SUCCESS' })).toEqual(['done']);
});

test('pages are parts of one order, also of a search over statuses and texts', async () => {
  for (const request of [{}, { search: 'e' }, { search: 'example' }, { ordering: 'status' as const }]) {
    const whole = await names(request);
    const paged: string[] = [];
    for (let page = 1; page <= 5; page++) {
      const { rows } = await listAiTasks(stage.on, stage.principal, { page, limit: 2, ...request });
      paged.push(...rows.map(nameOf));
    }
    expect(paged).toEqual(whole);
  }
});

test('a page is right however unevenly the tasks that hold a text are spread', async () => {
  const other = await stage.anotherClient();
  // Newest first: 6000 that don't match, then 2000 that match, one of which also by its status.
  await stage.database.pool.query(
    `insert into ai_tasks (id, client_id, task_name, status, task_data, search_text, created_at, completed_at)
     select gen_random_uuid(), $1, 'transcription', case when i = 7000 then 'REVOKED' else 'FAILURE' end, '{}',
       case when i > 6000 then 'revoke' else 'other' end, timestamptz '2026-11-21' - i * interval '1 minute', now()
     from generate_series(1, 8000) i`,
    [other.clientId],
  );
  for (const search of ['revoke', 'evoke']) {
    for (const page of [1, 50, 100, 101]) {
      const { count, rows } = await listAiTasks(stage.on, other, { search, page, limit: 20 });
      expect(count).toBe(2000);
      const found = await stage.database.pool.query<{ id: string }>(
        `select id from ai_tasks where client_id = $1 and search_text = 'revoke'
         order by created_at desc limit 20 offset $2`,
        [other.clientId, (page - 1) * 20],
      );
      expect(rows.map((row) => row.id)).toEqual(found.rows.map((row) => row.id));
    }
  }
});

test('another account sees none of them', async () => {
  expect(await listAiTasks(stage.on, await stage.anotherClient(), { page: 1, limit: 10 })).toEqual({
    count: 0,
    rows: [],
  });
});
