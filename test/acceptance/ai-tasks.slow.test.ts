import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { activateAiFeatures, createAiTask, endedAiTask, readAiTask } from '../support/ai-tasks.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { makeFile, makeMedia, needs } from '../support/engines.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import {
  crawling,
  dripping,
  endless,
  type MediaServer,
  redirectTo,
  startMediaServer,
} from '../support/media-server.ts';
import { processesIn, residentBytes } from '../support/processes-in.ts';
import { flite } from '../support/speech.ts';
import { build, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7$acceptance-secret';
const MEGABYTE = 1_000_000;
const SENTENCE = 'The old lighthouse stood at the end of a long and narrow road. ';
const WITHIN = { timeout: 120_000, interval: 25 };

const clip = (seconds: number) => ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${seconds}`];

const spoken = (times: number) => makeMedia('speech.mp4', '-i', flite(SENTENCE.repeat(times)));

/** Runs real servers, real media over HTTP, and the engines that are installed here. */
describe('AI tasks from the first byte to the result', needs('speech', 'nsfw', 'flite'), () => {
  let media: MediaServer;
  let pages: Record<string, Parameters<typeof startMediaServer>[0][string]>;

  beforeAll(async () => {
    build();
    const long = spoken(12);
    const whole = fs.readFileSync(makeMedia('whole.mp4', ...clip(10)));
    pages = {
      '/speech.mp4': spoken(2),
      '/long.mp4': long,
      '/picture.mp4': makeMedia('picture.mp4', ...clip(3)),
      '/empty.mp4': makeFile('empty.mp4', ''),
      '/truncated.mp4': makeFile('truncated.mp4', whole.subarray(0, whole.length / 2)),
      '/page.mp4': makeFile('page.mp4', '<!DOCTYPE html><html><body>Log in</body></html>'),
      '/concat.mp4': makeFile('concat.mp4', "ffconcat version 1.0\nfile '/etc/passwd'\n"),
      // Small to send and huge when unpacked: a picture of 225 million pixels, and ten hours of silence.
      '/bomb.png': makeMedia('bomb.png', '-f', 'lavfi', '-i', 'color=s=15000x15000:d=1,format=gray', '-frames:v', '1'),
      '/silence.flac': makeMedia('silence.flac', ...['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '36000']),
      '/endless.mp4': endless,
      '/drip.mp4': dripping,
    };
    media = await startMediaServer(pages);
    pages['/playlist.mp4'] = makeFile('playlist.mp4', `#EXTM3U\n#EXTINF:1,\n${media.at('/secret.ts')}\n`);
    pages['/to-private.mp4'] = redirectTo(`http://localhost:${media.port}/secret.ts`);
  });
  afterAll(() => media.close());

  const create = (http: HttpClient, name: string, body: object = { task_name: 'transcription' }) => {
    const url = name.startsWith('/') ? media.at(name) : name.replace('PORT', String(media.port));
    return createAiTask(http, { ...body, url });
  };
  const inWork = (folder: string, program: string) =>
    vi.waitFor(() => {
      const found = processesIn(folder);
      // The program's own command line: those of its starters contain the name further on.
      if (![...found.values()].some((line) => line.split(' ')[0]?.includes(program)))
        throw new Error(`no ${program} yet`);
      return [...found.keys()];
    }, WITHIN);
  const filesIn = (folder: string) =>
    fs
      .readdirSync(path.join(folder, 'ai'), { recursive: true, encoding: 'utf8' })
      .filter((name) => !/^[^/]+(\/owner\.json)?$/.test(name));
  const nothingIsLeft = (folder: string) =>
    vi.waitFor(() => expect([[...processesIn(folder).values()], filesIn(folder)]).toEqual([[], []]), WITHIN);

  describe('in one process on the embedded database', () => {
    const folder = temporaryFolder();
    const tmp = path.join(folder, 'tmp');
    let service: ServeProcess;
    let http: HttpClient;
    const start = async () => {
      service = await serve({
        TRADEWIND_DATA_DIR: path.join(folder, 'data'),
        TRADEWIND_TMP: tmp,
        TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
        TRADEWIND_AI_CONCURRENCY: '1',
        TRADEWIND_MEDIA_ALLOW_HOSTS: media.host,
        TRADEWIND_MEDIA_MAX_MB: '20',
        TRADEWIND_MEDIA_IDLE_SECONDS: '2',
        TRADEWIND_MEDIA_TOTAL_SECONDS: '5',
      });
      http = createHttpClient(service.url, TOKEN);
    };
    beforeAll(start);
    afterAll(async () => {
      await service.end();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    it('speech becomes text, and the text a track', async () => {
      const id = await create(http, '/speech.mp4');
      const task = await endedAiTask(http, id);
      expect(task).toMatchObject({ status: 'SUCCESS', progress: 100 });
      expect(task.result).toMatchObject({ speech_detected: true, languages: ['eng'] });
      expect(task.result.concatenated_text).toMatch(/lighthouse|narrow road/i);
      const track = await http.get(`/streaming/ai/tasks/${id}/subtitles.vtt`);
      expect(track.text).toBe(task.result.vttContent);
      expect(track.text).toMatch(/^WEBVTT/);
      const info = '/streaming/ai/info?type=language_support&audio_language=';
      expect((await http.get(`${info}eng`)).body).toEqual({ supported: true });
      expect((await http.get(`${info}uzb`)).body).toEqual({ supported: false });
    });

    it('harmless pictures are no nsfw', async () => {
      const id = await create(http, '/picture.mp4', { task_name: 'content-moderation', category: 'nsfw' });
      expect(await endedAiTask(http, id)).toMatchObject({
        status: 'SUCCESS',
        result: { nsfw_detected: false, detection_results: [], frames: [] },
      });
    });

    const nsfw = { task_name: 'content-moderation', category: 'nsfw' };
    const PRIVATE = /not on the public internet/;
    it('whatever is wrong with a medium, the task says so, and nothing stays behind', async () => {
      const cases: [string, RegExp, object?][] = [
        ['http://nothing.invalid/a.mp4', /can't be reached/],
        ['/missing.mp4', /HTTP 404/],
        ['/endless.mp4', /larger than the 20 MB/],
        ['/drip.mp4', /less than 32 kB a second for 2 seconds/],
        ['/empty.mp4', /0 bytes/],
        ['/page.mp4', /Unsupported file type: text\/html/],
        ['/playlist.mp4', /Unsupported file type/],
        ['/concat.mp4', /Unsupported file type/],
        ['/bomb.png', /./, nsfw],
        ['/silence.flac', /longer than|too long|at most/i],
        ['/truncated.mp4', /damaged or incomplete/, nsfw],
        ['/picture.mp4', /no audio track/],
        ['/to-private.mp4', PRIVATE],
        ['http://localhost:PORT/secret.ts', PRIVATE],
        ['http://[::ffff:127.0.0.1]:PORT/secret.ts', PRIVATE],
        ['http://127.0.0.1:1/secret.ts', PRIVATE],
      ];
      const { pid = 0 } = service.child;
      const before = residentBytes(pid);
      media.asked.length = 0;
      const ids = await Promise.all(cases.map(([name, , body]) => create(http, name, body)));
      for (const [index, id] of ids.entries()) {
        const [name, reason] = cases[index] ?? ['', /never/];
        const task = await endedAiTask(http, id);
        expect([name, task.status, task.result]).toEqual([name, 'FAILURE', { error: expect.stringMatching(reason) }]);
        expect(task.result.error).not.toContain('SECRET');
      }
      expect(media.asked).not.toContain('/secret.ts');
      expect(service.stderr()).not.toContain('failed');
      await nothingIsLeft(tmp);
      await vi.waitFor(() => expect(residentBytes(pid) - before).toBeLessThan(20 * MEGABYTE), WITHIN);
      // The server still works.
      expect(await endedAiTask(http, await create(http, '/speech.mp4'))).toMatchObject({ status: 'SUCCESS' });
    });

    it('a cancelled task is REVOKED at once, and all of its processes end', async () => {
      const id = await create(http, '/long.mp4');
      const pids = await inWork(tmp, 'pocketsphinx');
      expect(pids.length).toBeGreaterThan(1);
      const answer = await http.post(`/streaming/ai/tasks/${id}/cancel`);
      expect(answer.status).toBe(202);
      expect((await readAiTask(http, id)).status).toBe('REVOKED');
      await vi.waitFor(() => expect([...processesIn(tmp).keys()]).toEqual([]), SOON);
      await nothingIsLeft(tmp);
      expect(await readAiTask(http, id)).toMatchObject({ status: 'REVOKED', result: null });
    });

    it.skipIf(needs('sandbox').skip)(
      'what reads a medium has no network',
      async () => {
        const id = await create(http, '/long.mp4');
        await inWork(tmp, 'pocketsphinx');
        const networkOf = (pid: number | 'self') => fs.readlinkSync(`/proc/${pid}/ns/net`);
        const readers = [...processesIn(tmp)].filter(([, line]) => /^\S*(node|pocketsphinx)/.test(line));
        expect(readers.length).toBeGreaterThan(1);
        for (const [pid, line] of readers) expect(networkOf(pid), line).not.toBe(networkOf('self'));
        await http.post(`/streaming/ai/tasks/${id}/cancel`);
        await nothingIsLeft(tmp);
      },
      150_000,
    );

    it('what reads a medium is not root, and the kernel ends it before the database', async () => {
      const id = await create(http, '/long.mp4');
      await inWork(tmp, 'pocketsphinx');
      const readers = [...processesIn(tmp)].filter(([, line]) => /^\S*(node|pocketsphinx)/.test(line));
      expect(readers.length).toBeGreaterThan(1);
      for (const [pid, line] of readers) {
        const [, user] = /^Uid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
        expect(Number(user), line).toBeGreaterThan(0);
        expect(fs.readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'), line).toBe('1000\n');
      }
      await http.post(`/streaming/ai/tasks/${id}/cancel`);
      await nothingIsLeft(tmp);
    });

    it('a server that is killed ends its children, and does the task when it is back', async () => {
      const [short = '', long = ''] = [pages['/speech.mp4'], pages['/long.mp4']];
      pages['/killed.mp4'] = long;
      const id = await create(http, '/killed.mp4');
      await inWork(tmp, 'pocketsphinx');
      expect(await service.end('SIGKILL')).toBe('SIGKILL');
      await vi.waitFor(() => expect([...processesIn(tmp).values()]).toEqual([]), WITHIN);
      expect(filesIn(tmp)).not.toEqual([]);
      // It is fetched again.
      pages['/killed.mp4'] = short;
      await start();
      const task = await endedAiTask(http, id);
      expect(task, JSON.stringify(task.result)).toMatchObject({ status: 'SUCCESS', progress: 100 });
      await nothingIsLeft(tmp);
    });

    it('logs each stage of a task, and no secret of its address', async () => {
      const id = await create(http, `http://me:hush@${media.host}/speech.mp4?token=hush`);
      await endedAiTask(http, id);
      const stages = ['fetching', 'analysis', 'inspection', 'recognition', 'SUCCESS'];
      const said = () => {
        const lines = service.stderr().split('\n');
        return stages.filter((stage) => lines.some((line) => line.includes(id) && line.includes(stage)));
      };
      // The last of them is logged after the answer.
      await expect.poll(said).toEqual(stages);
      expect(service.stderr()).not.toContain('hush');
    });
  });

  describe('in an API and two workers on a PostgreSQL of their own', () => {
    const folder = temporaryFolder();
    let database: TestDatabase;
    let api: ServeProcess;
    let http: HttpClient;
    const workers = new Map<string, ServeProcess>();
    const settings = () => ({
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: folder,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_AI_CONCURRENCY: '1',
      TRADEWIND_MEDIA_ALLOW_HOSTS: media.host,
      TRADEWIND_MEDIA_MIN_RATE_KB: '0',
    });
    const startWorker = async (name: string) => {
      const own = { ...settings(), TRADEWIND_TMP: path.join(folder, name) };
      workers.set(name, await serve(own, ['--role', 'worker']));
    };
    beforeAll(async () => {
      database = await createDatabase({ empty: true });
      api = await serve(settings(), ['--role', 'api']);
      http = createHttpClient(api.url, TOKEN);
    });
    afterAll(async () => {
      await Promise.all([api, ...workers.values()].map((process) => process.end()));
      await database.drop();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    it('a task waits until a process with engines starts', async () => {
      const id = await create(http, '/speech.mp4');
      expect(await readAiTask(http, id)).toMatchObject({
        status: 'PENDING',
        progress: 0,
        waiting_for: expect.stringContaining('engine'),
      });
      const info = '/streaming/ai/info?type=language_support&audio_language=eng';
      expect((await http.get(info)).body).toEqual({ supported: false });
      await startWorker('first');
      expect(await endedAiTask(http, id)).toMatchObject({ status: 'SUCCESS' });
      expect((await http.get(info)).body).toEqual({ supported: true });
    });

    it('a slow server holds up the account that chose it, and no other', async () => {
      const { id } = (await http.post('/iam/clients/create', { company: 'Patience Ltd' })).body;
      await activateAiFeatures(http, id);
      const made = runTradewind(['token', 'create', '--client', String(id)], settings());
      const other = createHttpClient(api.url, made.stdout.trim());
      let open = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      pages['/crawl.mp4'] = crawling(spoken(2), opened);
      const slow = await create(http, '/crawl.mp4');
      await vi.waitFor(() => expect(media.asked).toContain('/crawl.mp4'), WITHIN);
      const quick = [await create(other, '/speech.mp4'), await create(other, '/speech.mp4')];
      for (const task of quick) expect(await endedAiTask(other, task)).toMatchObject({ status: 'SUCCESS' });
      expect(await readAiTask(http, slow)).toMatchObject({ status: 'STARTED' });
      open();
      expect(await endedAiTask(http, slow)).toMatchObject({ status: 'SUCCESS' });
    });

    it('another worker does the task of one that was killed', async () => {
      const [short = '', long = ''] = [pages['/speech.mp4'], pages['/long.mp4']];
      pages['/taken-over.mp4'] = long;
      const id = await create(http, '/taken-over.mp4');
      await inWork(path.join(folder, 'first'), 'pocketsphinx');
      await startWorker('second');
      expect(await workers.get('first')?.end('SIGKILL')).toBe('SIGKILL');
      // It is fetched again.
      pages['/taken-over.mp4'] = short;
      workers.delete('first');
      expect(await endedAiTask(http, id)).toMatchObject({ status: 'SUCCESS' });
    });

    it('a cancellation reaches the process that does the work', async () => {
      const id = await create(http, '/long.mp4');
      const own = path.join(folder, 'second');
      await inWork(own, 'pocketsphinx');
      expect((await http.post(`/streaming/ai/tasks/${id}/cancel`)).status).toBe(202);
      await vi.waitFor(() => expect([...processesIn(own).keys()]).toEqual([]), SOON);
    });
  });
});
