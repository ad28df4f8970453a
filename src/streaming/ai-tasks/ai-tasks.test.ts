import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activateAiFeatures } from '../../../test/support/ai-tasks.ts';
import { finishAiTask } from '../../../test/support/finished-ai-tasks.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

const PATH = '/streaming/ai/tasks';
const url = 'https://media.example.com/a.mp4';
let service: TestService;

beforeAll(async () => {
  service = await borrowService();
});
afterAll(async () => {
  await service.pool.query("delete from workers where host = 'elsewhere'");
  await service.stop();
});

const create = (body: object) => service.http.post(PATH, body);

async function created(body: object): Promise<string> {
  const answer = await create(body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.task_id;
}

/** Pretends that a process with such engines is running. */
async function withEngines(capabilities: object): Promise<void> {
  await service.pool.query(
    "insert into workers (id, host, pid, capabilities) values (gen_random_uuid(), 'elsewhere', 1, $1)",
    [capabilities],
  );
}

test.each(['hard_nudity', 'soft_nudity', 'sport'])(
  'refuses %s while no engine can do it, and says what is missing',
  async (category) => {
    const answer = await create({ task_name: 'content-moderation', category, url });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ error: expect.stringMatching(`can do ${category}. It needs .*doctor`) });
  },
);

test('languages are supported as the processes with engines say', async () => {
  const supported = async (query: string) => {
    const answer = await service.http.get(`/streaming/ai/info?type=language_support&${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.supported;
  };
  expect(await supported('audio_language=eng')).toBe(false);
  await withEngines({
    transcription: { languages: ['eng', 'ger'], translations: [['ger', 'eng']] },
    categories: ['nsfw', 'sport'],
  });
  await withEngines({ categories: ['hard_nudity', 'soft_nudity'] });
  expect(await supported('audio_language=eng')).toBe(true);
  expect(await supported('audio_language=deu&subtitles_language=eng')).toBe(true);
  expect(await supported('audio_language=eng&subtitles_language=deu')).toBe(false);
  expect(await supported('audio_language=fre')).toBe(false);
});

test.each([
  { task_name: 'transcription', url, audio_language: 'deu', subtitles_language: 'eng' },
  { task_name: 'content-moderation', category: 'nsfw', url, client_user_id: 'u1', client_entity_data: '{}' },
  { task_name: 'content-moderation', category: 'hard_nudity', url, stop_objects: 'ANUS_EXPOSED:0.50' },
  { task_name: 'content-moderation', category: 'soft_nudity', url, stop_objects: 'FACE_MALE' },
  { task_name: 'content-moderation', category: 'sport', url },
])('accepts $task_name $category, which waits in PENDING', async (body) => {
  const id = await created(body);
  const answer = await service.http.get(`${PATH}/${id}`);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    task_id: id,
    status: 'PENDING',
    progress: 0,
    processing_time: { completed_at: null, total_time_sec: null },
    task_data: { ...body, client_id: 1 },
    result: null,
  });
});

test("a task's data can be sent again as it is read, and null options are as if left out", async () => {
  const body = { task_name: 'transcription', url, audio_language: null, client_user_id: null, client_id: 99 };
  const { body: task } = await service.http.get(`${PATH}/${await created(body)}`);
  expect(task.task_data).toEqual({ task_name: 'transcription', url, client_id: 1 });
  await created(task.task_data);
});

test.each([
  [{}, /task_name: This field is required/],
  [{ task_name: 'transcription' }, /url: This field is required/],
  [{ task_name: 'weather', url }, /task_name: Must be one of: transcription, content-moderation/],
  [{ task_name: 'content-moderation', url }, /category: This field is required/],
  [{ task_name: 'content-moderation', url, category: 'csam' }, /category: Must be one of: nsfw, hard_nudity/],
  [{ task_name: 'transcription', url, colour: 'red' }, /colour: Unknown field/],
  [{ task_name: 'transcription', url, category: 'nsfw' }, /category: Unknown field/],
  [
    { task_name: 'content-moderation', url, category: 'nsfw', stop_objects: 'FACE_MALE' },
    /stop_objects: Unknown field/,
  ],
  [
    { task_name: 'content-moderation', url, category: 'hard_nudity', stop_objects: 'FACE_MALE' },
    /stop_objects: FACE_MALE is not an object of this category/,
  ],
  [{ task_name: 'transcription', url: 'ftp://example.com/a' }, /url: Must be the address of a file/],
  [{ task_name: 'transcription', url: 7 }, /url: Must be a string/],
  [{ task_name: 'transcription', url: `https://a.example/${'a'.repeat(4096)}` }, /url: Must have at most 4096/],
  [{ task_name: 'transcription', url, audio_language: 'xyz' }, /audio_language: "xyz" is not a known language/],
  [{ task_name: 'transcription', url, subtitles_language: 'en' }, /subtitles_language: "en" is not a known language/],
  [{ task_name: 'transcription', url, client_user_id: 'u'.repeat(257) }, /client_user_id: Must have at most 256/],
  [
    { task_name: 'transcription', url, client_entity_data: 'd'.repeat(4097) },
    /client_entity_data: Must have at most 4096/,
  ],
  [{ task_name: 'transcription', url, client_entity_data: 'a\0b' }, /client_entity_data: .*NUL/],
])('refuses %j', async (body, text) => {
  const answer = await create(body);
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ error: expect.stringMatching(text) });
});

test('a cancelled task is REVOKED at once and can not be cancelled again', async () => {
  const id = await created({ task_name: 'transcription', url });
  const cancelled = await service.http.post(`${PATH}/${id}/cancel`);
  expect(cancelled.status).toBe(202);
  expect(cancelled.body).toEqual({ result: expect.stringContaining(id) });
  const { body: task } = await service.http.get(`${PATH}/${id}`);
  expect(task.status).toBe('REVOKED');
  expect(task.processing_time).toEqual({
    completed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    total_time_sec: null,
  });
  const again = await service.http.post(`${PATH}/${id}/cancel`);
  expect(again.status).toBe(412);
  expect(again.body).toEqual({ error: expect.stringContaining('has ended with REVOKED') });
});

test('subtitles are served as a track once there are some', async () => {
  const id = await created({ task_name: 'transcription', url });
  const track = `${PATH}/${id}/subtitles.vtt`;
  expect((await service.http.get(track)).body).toEqual({ status: 404, error: expect.stringContaining(id) });
  await finishAiTask(service.pool, id);
  const answer = await service.http.get(track);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/vtt; charset=utf-8']);
  expect(answer.text).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHi\n');
  const other = await service.otherTenant();
  expect((await other.http.get(track)).status).toBe(404);
});

test('the rate of a film is told with its result, and left out where there is none', async () => {
  const film = await created({ task_name: 'transcription', url });
  const sound = await created({ task_name: 'transcription', url });
  expect((await service.http.get(`${PATH}/${film}`)).body).not.toHaveProperty('frame_rate');
  await finishAiTask(service.pool, film, { frames: [] }, 24_000 / 1_001);
  await finishAiTask(service.pool, sound);
  expect((await service.http.get(`${PATH}/${film}`)).body.frame_rate).toBe(24_000 / 1_001);
  expect((await service.http.get(`${PATH}/${sound}`)).body).not.toHaveProperty('frame_rate');
});

test.each([randomUUID(), 'task_id'])('an unknown id %s is 404', async (id) => {
  const read = await service.http.get(`${PATH}/${id}`);
  expect(read.status).toBe(404);
  expect(read.body).toEqual({ status: 404, error: expect.stringContaining(id) });
  const cancelled = await service.http.post(`${PATH}/${id}/cancel`);
  expect(cancelled.status).toBe(404);
  expect(cancelled.body).toEqual({ error: expect.stringContaining(id) });
});

test('nothing without credentials; members may read and not create', async () => {
  for (const answer of [
    await service.anonymous.post(PATH, {}),
    await service.anonymous.get(PATH),
    await service.anonymous.get(`${PATH}/${randomUUID()}`),
    await service.anonymous.post(`${PATH}/${randomUUID()}/cancel`),
    await service.anonymous.get('/streaming/ai/info?type=language_support&audio_language=eng'),
  ]) {
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: expect.any(String), hint: expect.any(String) });
  }
  const member = await service.withRole('Users');
  expect((await member.get(PATH)).status).toBe(200);
  expect((await member.post(PATH, { task_name: 'transcription', url })).status).toBe(403);
  expect((await member.post(`${PATH}/${randomUUID()}/cancel`)).status).toBe(403);
});

test('an unknown language is refused', async () => {
  const info = '/streaming/ai/info?type=language_support';
  for (const query of ['', '&audio_language=xyz', '&audio_language=eng&subtitles_language=xyz']) {
    const answer = await service.http.get(info + query);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.stringMatching(/^Validation error: \w+_language: /) });
  }
});

test('of many creations at once exactly as many pass as the queue has room for', async () => {
  const other = await service.otherTenant();
  await activateAiFeatures(service.http, other.clientId);
  const answers = await Promise.all(
    Array.from({ length: 130 }, () => other.http.post(PATH, { task_name: 'transcription', url })),
  );
  const refused = answers.filter((answer) => answer.status === 400);
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(100);
  expect(refused).toHaveLength(30);
  expect(refused[0]?.body).toEqual({ error: expect.stringMatching(/limit reached \(100.*try again later/) });
  const accepted = answers.find((answer) => answer.status === 201)?.body.task_id;
  expect((await other.http.post(`${PATH}/${accepted}/cancel`)).status).toBe(202);
  expect((await other.http.post(PATH, { task_name: 'transcription', url })).status).toBe(201);
});

test('the address of the next page keeps what was asked for', async () => {
  const other = await service.otherTenant();
  await activateAiFeatures(service.http, other.clientId);
  for (const name of ['a b', 'c&d', 'e']) {
    const body = {
      task_name: 'transcription',
      url: `https://media.example.com/${encodeURIComponent(name)}.mp4`,
    };
    expect((await other.http.post(PATH, body)).status).toBe(201);
  }
  const day = new Date().toISOString().slice(0, 7);
  const asked = `limit=1&task_name=transcription&status=PENDING&ordering=task_id&date_created=${day}&search=example.com%2F`;
  const seen: string[] = [];
  for (let query: string | undefined = asked; query !== undefined; ) {
    const { body } = await other.http.get(`/gcore${PATH}?${query}`);
    expect(body.count).toBe(3);
    seen.push(...body.results.map((task: { task_id: string }) => task.task_id));
    query = body.next;
    if (query !== undefined) expect(new URLSearchParams(query).get('search')).toBe('example.com/');
  }
  expect(new Set(seen).size).toBe(3);
});

test('at /gcore, what has no value yet is left out where the published contract has no null', async () => {
  const id = await created({ task_name: 'transcription', url });
  const { body: task } = await service.http.get(`/gcore${PATH}/${id}`);
  expect(task).toMatchObject({
    status: 'PENDING',
    processing_time: { completed_at: null, total_time_sec: null },
  });
  expect(task).not.toHaveProperty('result');
  expect(task.processing_time).not.toHaveProperty('started_at');
  const { body: page } = await service.http.get(`/gcore${PATH}?limit=1000`);
  expect(Object.keys(page).sort()).toEqual(['count', 'results']);
  await finishAiTask(service.pool, id);
  expect((await service.http.get(`/gcore${PATH}/${id}`)).body.result).toHaveProperty('vttContent');
  expect((await service.http.get(`${PATH}?limit=1000`)).body).toMatchObject({ next: null, previous: null });
});

test('lists are read page by page', async () => {
  const other = await service.otherTenant();
  await activateAiFeatures(service.http, other.clientId);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const body = { task_name: 'transcription', url: `https://media.example.com/${i}.mp4` };
    ids.unshift((await other.http.post(PATH, body)).body.task_id);
  }
  const page = async (query: string) => {
    const { status, body } = await other.http.get(`${PATH}?${query}`);
    expect(status).toBe(200);
    return { ...body, results: body.results.map((task: { task_id: string }) => task.task_id) };
  };
  const count = 5;
  expect(await page('')).toEqual({ count, next: null, previous: null, results: ids });
  expect(await page('limit=2')).toEqual({
    count,
    next: 'page=2&limit=2',
    previous: null,
    results: ids.slice(0, 2),
  });
  expect(await page('limit=2&page=2')).toEqual({
    count,
    next: 'page=3&limit=2',
    previous: 'page=1&limit=2',
    results: ids.slice(2, 4),
  });
  expect(await page('limit=2&page=3')).toEqual({
    count,
    next: null,
    previous: 'page=2&limit=2',
    results: [ids[4]],
  });
  expect(await page('limit=2&page=9')).toEqual({
    count,
    next: null,
    previous: 'page=3&limit=2',
    results: [],
  });
  expect(await page(`limit=1000&page=${Number.MAX_SAFE_INTEGER}`)).toMatchObject({ count, results: [] });
  expect(await page('search=nothing&page=2')).toEqual({ count: 0, next: null, previous: null, results: [] });
  expect(await page('task_id=task_id')).toMatchObject({ count: 0 });
  expect(await page('search=')).toMatchObject({ count });
  const [task] = (await other.http.get(`${PATH}?limit=1`)).body.results;
  expect(Object.keys(task)).not.toContain('result');
  expect(task.task_data.client_id).toBe(other.clientId);
});

test('an offset whose plus sign was not escaped is understood', async () => {
  for (const offset of ['+00:00', '%2B00:00', 'Z']) {
    const answer = await service.http.get(`${PATH}?date_created=2026-11-21T10:00:00${offset}`);
    expect(answer.status, answer.text).toBe(200);
  }
});

test.each([
  ['page=0', /page: Must be at least 1/],
  ['page=x', /page: Must be an integer/],
  ['limit=0', /limit: Must be at least 1/],
  ['limit=1001', /limit: Must be at most 1000/],
  ['status=DONE', /status: Must be one of: FAILURE, PENDING/],
  ['task_name=nsfw', /task_name: Must be one of: transcription, content-moderation/],
  ['ordering=-started_at', /ordering: Must be one of: task_id, status, task_name, started_at/],
  ['date_created=yesterday', /date_created: Must be an ISO 8601 date or time/],
  ['date_created=2026-02-30', /date_created: Must be an ISO 8601 date or time that exists/],
  ['search=%00', /NUL/],
  ['offset=3', /offset: Unknown query parameter/],
])('refuses the query %s', async (query, text) => {
  const answer = await service.http.get(`${PATH}?${query}`);
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ error: expect.stringMatching(text) });
});
