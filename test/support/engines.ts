import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pRetry from 'p-retry';
import { analyse } from '../../engines/child/analysis.ts';
import { takeInventory } from '../../engines/inventory.ts';
import { findSandbox } from '../../engines/isolation/sandbox.ts';
import { type AnalysisJob, type AnalysisMessage, DEFAULT_LIMITS } from '../../engines/job.ts';
import { findProgram } from '../../engines/programs.ts';
import { createReport } from '../../engines/report.ts';
import type { EngineSettings } from '../../engines/settings.ts';
import { DEFAULT_SETTINGS } from './engine-settings.ts';

const OPENCV = '/usr/share/doc/opencv-doc/examples/data';
const SKIMAGE = '/usr/lib/python3/dist-packages/skimage/data';
const LIBRIVOX = '/usr/share/pocketsphinx/test/data/librivox';
const SPANISH = '/usr/share/asterisk/sounds/es_MX_f_Allison';
const PROMPTS = '/usr/share/asterisk/sounds/en_US_f_Allison';
const PROMPT_SCRIPT = '/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz';

/** Files for tests of the engines; `npm run install:tests` installs them all. */
export const material = {
  opencv: OPENCV,
  skimage: SKIMAGE,
  librivox: LIBRIVOX,
  spanish: SPANISH,
  prompts: PROMPTS,
  promptScript: PROMPT_SCRIPT,
};

const { searchPath } = DEFAULT_SETTINGS;
const program = (name: string) => findProgram(name, searchPath) !== undefined;

// Programs that are there and don't answer in time, on a busy machine, are no reason to skip their tests.
const inventory = await pRetry(
  async () => {
    const found = await takeInventory(DEFAULT_SETTINGS);
    if (found.media.missing !== undefined && program('ffmpeg') && program('ffprobe'))
      throw new Error(found.media.missing);
    return found;
  },
  { retries: 3 },
);
const sandbox = await findSandbox({
  ...{ searchPath, programs: [], reads: [], hides: [], folder: os.tmpdir() },
  scratchBytes: DEFAULT_LIMITS.writtenBytes,
});
const THERE = {
  media: inventory.media.found !== undefined,
  speech: inventory.media.found !== undefined && inventory.speech.found !== undefined,
  nsfw: inventory.media.found !== undefined && inventory.pictures.nsfw.found !== undefined,
  sport: inventory.media.found !== undefined && inventory.pictures.sport.found !== undefined,
  sandbox: sandbox.found !== undefined,
  flite: program('flite'),
  opencv: fs.existsSync(`${OPENCV}/messi5.jpg`),
  skimage: fs.existsSync(`${SKIMAGE}/astronaut.png`),
  librivox: fs.existsSync(`${LIBRIVOX}/transcription`),
  spanish: fs.existsSync(`${SPANISH}/demo-congrats.g722`),
  prompts: fs.existsSync(`${PROMPTS}/vm-newuser.g722`) && fs.existsSync(PROMPT_SCRIPT),
};

/**
 * Returns options of a `describe` whose tests need these. Skipped tests are reported. Tests inherit `skip: false` and
 * run then in spite of their own `skipIf`, so that it is left out.
 */
export function needs(...names: (keyof typeof THERE)[]): { skip?: true } {
  const lacking = names.filter((name) => !THERE[name]);
  if (lacking.length > 0) {
    process.stderr.write(
      `SKIPPED, for want of ${lacking.join(', ')}: "npm run install:tests" and "npx tradewind doctor" help\n`,
    );
  }
  return lacking.length > 0 ? { skip: true } : {};
}

export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-engines-'));
process.once('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));

let files = 0;
export const newFile = (name: string) => path.join(scratch, `${++files}-${name}`);

/** Makes a medium with ffmpeg; returns its path. */
export function makeMedia(name: string, ...args: string[]): string {
  const file = newFile(name);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, file]);
  return file;
}

export function makeFile(name: string, content: string | Uint8Array): string {
  const file = newFile(name);
  fs.writeFileSync(file, content);
  return file;
}

type Wish =
  | { kind: 'transcription'; audioLanguage?: string; subtitlesLanguage?: string }
  | ({ kind: 'content-moderation' } & Partial<Extract<AnalysisJob, { kind: 'content-moderation' }>>);

export function jobFor(media: string, wish: Wish, limits: Partial<AnalysisJob['limits']> = {}): AnalysisJob {
  const folder = newFile('job');
  fs.mkdirSync(folder);
  const shared = { media, folder, limits: { ...DEFAULT_LIMITS, ...limits } };
  return wish.kind === 'transcription'
    ? { audioLanguage: null, subtitlesLanguage: null, ...wish, ...shared }
    : { category: 'nsfw', stopObjects: [], ...wish, ...shared };
}

/**
 * Analyses like the child, but in this process. Returns the result or the reason of the refusal, and all
 * messages before it.
 */
export async function analysed(
  job: AnalysisJob,
  settings: Partial<EngineSettings> = {},
): Promise<{ result: unknown; messages: AnalysisMessage[] }> {
  const messages: AnalysisMessage[] = [];
  const report = createReport(
    (message) => void messages.push(message),
    () => performance.now(),
  );
  const result = await analyse({ job, settings: { ...DEFAULT_SETTINGS, ...settings } }, report);
  return { result, messages };
}
