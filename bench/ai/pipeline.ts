import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNsfwModerator } from '../../engines/frames/nsfw.ts';
import type { Frame } from '../../engines/interfaces.ts';
import { takeInventory } from '../../engines/inventory.ts';
import { findProgram } from '../../engines/programs.ts';
import { DEFAULT_SETTINGS } from '../../test/support/engine-settings.ts';
import { type Api, createApi } from '../support/api.ts';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';

const SENTENCE = 'The old lighthouse stood at the end of a long and narrow road, and ships came home in the morning. ';
const POLL_MS = 20;

/**
 * Compares the cost of a task from creation to result with the bare engine on the same file in the same run.
 */
export async function measurePipeline({ quick }: { quick: boolean }): Promise<string> {
  const { speech, pictures, media } = await takeInventory(DEFAULT_SETTINGS);
  const sphinx = speech.found?.map(({ how }) => how).find((how) => how.kind === 'pocketsphinx');
  const nsfw = pictures.nsfw.found;
  const flite = findProgram('flite', DEFAULT_SETTINGS.searchPath);
  if (!media.found || sphinx?.kind !== 'pocketsphinx' || !nsfw || flite === undefined) {
    return 'SKIPPED: the engines are not all installed; run "npm run install:tests"';
  }
  const { ffmpeg } = media.found;
  const rounds = quick ? 1 : 3;
  const database = await startDatabase();
  const spoken = makeSpeech(database.folder, { flite, ffmpeg, sentences: quick ? 6 : 10 });
  const frames = quick ? 60 : 120;
  const clip = path.join(database.folder, 'clip.mp4');
  run(ffmpeg, ['-f', 'lavfi', '-i', `testsrc2=s=1280x720:r=25:d=${frames}`, '-g', '25', clip]);
  const server = await serveFolder(database.folder);
  const bare = { speech: [] as number[], frame: [] as number[] };
  const whole = { speech: [] as number[], frame: [] as number[] };
  try {
    const moderator = await createNsfwModerator();
    await withProduct(database, server.host, async (api) => {
      for (let round = 0; round < rounds; round++) {
        bare.speech.push(bareSpeech(spoken.wave, sphinx));
        whole.speech.push(await taskSeconds(api, { task_name: 'transcription', url: `${server.base}/speech.mp4` }));
        bare.frame.push(await bareFrames(moderator, frames));
        whole.frame.push(
          await taskSeconds(api, {
            task_name: 'content-moderation',
            category: 'nsfw',
            url: `${server.base}/clip.mp4`,
          }),
        );
      }
    });
  } finally {
    server.close();
    await database.stop();
  }
  const perFrame = (seconds: number[]) => seconds.map((each) => (each / frames) * 1_000);
  const factor = (seconds: number[]) => seconds.map((each) => each / spoken.seconds);
  return markdownTable(
    ['work', 'whole task', 'bare engine', 'ratio'],
    [
      row(
        `transcription of ${shown(spoken.seconds)} s: seconds for each second`,
        factor(whole.speech),
        factor(bare.speech),
      ),
      row(`nsfw of ${frames} frames: ms for each frame`, perFrame(whole.frame), perFrame(bare.frame)),
    ],
  );
}

function row(name: string, whole: readonly number[], bare: readonly number[]): string[] {
  const ratios = whole.map((seconds, round) => seconds / (bare[round] ?? Number.NaN));
  return [name, ...[whole, bare, ratios].map(shownWithRange)];
}

function run(program: string, args: readonly string[]): void {
  const ofFfmpeg = program.endsWith('ffmpeg') ? ['-nostdin', '-v', 'error', '-y'] : [];
  execFileSync(program, [...ofFfmpeg, ...args], { stdio: ['ignore', 'ignore', 'ignore'] });
}

function makeSpeech(
  folder: string,
  { flite, ffmpeg, sentences }: { flite: string; ffmpeg: string; sentences: number },
): { wave: string; seconds: number } {
  const wave = path.join(folder, 'speech.wav');
  const text = path.join(folder, 'speech.txt');
  fs.writeFileSync(text, SENTENCE.repeat(sentences));
  run(flite, ['-voice', 'slt', '-f', text, '-o', wave]);
  run(ffmpeg, ['-i', wave, path.join(folder, 'speech.mp4')]);
  // 16,000 samples of two bytes a second, after a header of 44 bytes.
  return { wave, seconds: (fs.statSync(wave).size - 44) / 32_000 };
}

/** Runs only the recogniser, on the raw samples. */
function bareSpeech(wave: string, { program, model }: { program: string; model: string }): number {
  const folder = path.dirname(wave);
  const list = path.join(folder, 'list');
  fs.writeFileSync(list, 'speech\n');
  const begun = performance.now();
  run(program, [
    ...['-adcin', 'yes', '-cepdir', folder, '-cepext', '.wav', '-ctl', list],
    ...['-hyp', path.join(folder, 'hypothesis'), '-cmn', 'batch', '-hmm', path.join(model, 'en-us')],
    ...['-lm', path.join(model, 'en-us.lm.bin'), '-dict', path.join(model, 'cmudict-en-us.dict')],
  ]);
  return (performance.now() - begun) / 1_000;
}

/** Runs only the model, on prepared pictures. */
async function bareFrames(moderator: Awaited<ReturnType<typeof createNsfwModerator>>, frames: number): Promise<number> {
  const { size } = moderator.form;
  const rgb = Uint8Array.from({ length: size * size * 3 }, (_, index) => (index * 7) % 256);
  const frame: Frame = { number: 0, rgb };
  await moderator.confidence(frame);
  const begun = performance.now();
  for (let index = 0; index < frames; index++) await moderator.confidence(frame);
  const seconds = (performance.now() - begun) / 1_000;
  // While the models ran, this process couldn't notice that the product closed an idle connection.
  await sleep(100);
  return seconds;
}

/** Measures from the request that creates the task to the poll that sees its end. */
async function taskSeconds(api: Api, body: object): Promise<number> {
  const begun = performance.now();
  const { task_id: id } = (await api.call('POST', '/streaming/ai/tasks', body)) as { task_id: string };
  for (;;) {
    const task = (await api.call('GET', `/streaming/ai/tasks/${id}`)) as { status: string; result: unknown };
    if (task.status === 'SUCCESS') return (performance.now() - begun) / 1_000;
    if (task.status === 'FAILURE' || task.status === 'REVOKED') {
      throw new Error(`The task ended in ${task.status}: ${JSON.stringify(task.result)}`);
    }
    await sleep(POLL_MS);
  }
}

async function withProduct(database: BenchDatabase, allowed: string, work: (api: Api) => Promise<void>): Promise<void> {
  const product = await startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: path.join(database.folder, 'product'),
    TRADEWIND_MEDIA_ALLOW_HOSTS: allowed,
    TRADEWIND_AI_CONCURRENCY: '1',
  });
  try {
    await work(createApi(product.port));
  } finally {
    await product.stop();
  }
}

async function serveFolder(folder: string): Promise<{ base: string; host: string; close(): void }> {
  const server = http.createServer(({ url = '' }, response) => {
    const file = path.join(folder, path.basename(url));
    response.setHeader('content-length', fs.statSync(file).size);
    fs.createReadStream(file).pipe(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return { base: `http://${host}`, host, close: () => void server.close() };
}
