import path from 'node:path';
import type { Logger } from 'pino';
import type { ResourceLimits } from '../../../../engines/index.ts';
import {
  type AnalysisJob,
  type AnalysisProgram,
  analyse,
  HARD_NUDITY_LABELS,
  SOFT_NUDITY_LABELS,
} from '../../../../engines/index.ts';
import type { TaskData } from '../../../db/json-columns.ts';
import { shownUrl } from '../../../lib/file-url.ts';
import { type FetchOptions, fetchMedia, MediaError } from '../fetching/fetch-media.ts';
import { parseStopObjects } from '../stop-objects.ts';
import type { Claim } from './store.ts';

/** Shares of the whole task: the analysis gets the rest, and the last per cent is for the end. */
const FETCHED_PERCENT = 10;
const ANALYSED_PERCENT = 99;
/** How long the child may take to inspect the medium. */
const INSPECTION_SECONDS = 120;

export interface RunContext {
  program: AnalysisProgram;
  fetching: Pick<FetchOptions, 'limits' | 'allowedHosts'>;
  /** The task's own folder; the caller removes it. */
  folder: string;
  signal: AbortSignal;
  limits: Pick<ResourceLimits, 'wallSeconds' | 'analysis'>;
  /** Resolves when the task may be analysed, now that its file has arrived. */
  turn(): Promise<void>;
  /** Reports whole per cents of the task, never backwards. */
  progress(percent: number): void;
  log: Logger;
}

/** The outcome of a task's work. Everything else is thrown as an internal error. */
export type RunEnd = { /** Length of the medium. */ durationSeconds: number | undefined } & (
  | { kind: 'done'; result: object; framesPerSecond: number | undefined }
  | { kind: 'refused'; code: string; reason: string }
);

/** Fetches a task's medium and has it analysed. */
export async function runTask(claim: Claim, context: RunContext): Promise<RunEnd> {
  const { folder, signal, fetching, log, progress } = context;
  const media = path.join(folder, 'media');
  log.info({ stage: 'fetching', url: shownUrl(claim.data.url) }, 'AI task: fetching');
  try {
    const bytes = await fetchMedia(claim.data.url, media, {
      ...fetching,
      signal,
      onShare: (share) => progress(Math.floor(share * FETCHED_PERCENT)),
    });
    progress(FETCHED_PERCENT);
    await context.turn();
    log.info({ stage: 'analysis', bytes }, 'AI task: analysing');
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { kind: 'refused', code: error.code, reason: error.message, durationSeconds: undefined };
  }
  const job = jobOf(claim.data, { media, folder, limits: context.limits.analysis });
  return analysed(job, context);
}

async function analysed(job: AnalysisJob, { program, signal, limits, progress, log }: RunContext): Promise<RunEnd> {
  const wall = wallClock(INSPECTION_SECONDS);
  let durationSeconds: number | undefined;
  let framesPerSecond: number | undefined;
  try {
    const end = await analyse(program, job, {
      signal: AbortSignal.any([signal, wall.signal]),
      hear(message) {
        if (message.type === 'stage') log.info({ stage: message.name }, `AI task: ${message.name}`);
        if (message.type === 'facts') {
          ({ durationSeconds, framesPerSecond } = message);
          wall.allow(limits.wallSeconds(durationSeconds));
        }
        if (message.type === 'progress') {
          const share = message.percent / 100;
          progress(FETCHED_PERCENT + Math.floor(share * (ANALYSED_PERCENT - FETCHED_PERCENT)));
        }
      },
    });
    if (end.type === 'fault') throw new Error(printable(end.message));
    if (end.type === 'failed') {
      return { kind: 'refused', code: 'unusable', reason: end.reason, durationSeconds };
    }
    return { kind: 'done', result: end.result, durationSeconds, framesPerSecond };
  } catch (error) {
    if (signal.aborted || !wall.signal.aborted) throw error;
    const reason = `The analysis took longer than the ${wall.seconds()} seconds that are allowed for this file`;
    return { kind: 'refused', code: 'wall_time', reason, durationSeconds };
  } finally {
    wall.stop();
  }
}

/** Makes a child's output safe for a log: nothing that controls a terminal, and no line that looks like ours. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, ' ').replaceAll('\n', '\n    ');
}

function jobOf(data: TaskData, shared: Pick<AnalysisJob, 'media' | 'folder' | 'limits'>): AnalysisJob {
  if (data.task_name === 'transcription') {
    return {
      kind: 'transcription',
      audioLanguage: data.audio_language ?? null,
      subtitlesLanguage: data.subtitles_language ?? null,
      ...shared,
    };
  }
  const { category = 'nsfw', stop_objects: stopObjects } = data;
  const labels = category === 'soft_nudity' ? SOFT_NUDITY_LABELS : HARD_NUDITY_LABELS;
  const parsed = stopObjects === undefined ? [] : parseStopObjects(stopObjects, labels);
  // The text was checked when the task was created.
  return { kind: 'content-moderation', category, stopObjects: 'problem' in parsed ? [] : parsed, ...shared };
}

/** Returns a timer whose signal fires once the allowed seconds since its creation have passed. */
function wallClock(seconds: number) {
  const begun = performance.now();
  const controller = new AbortController();
  let allowed = seconds;
  let timer: NodeJS.Timeout;
  function set(): void {
    const left = begun + allowed * 1_000 - performance.now();
    timer = setTimeout(() => controller.abort(new Error('The time is up')), Math.max(0, left));
  }
  set();
  return {
    signal: controller.signal,
    seconds: () => allowed,
    allow(more: number) {
      clearTimeout(timer);
      allowed = more;
      set();
    },
    stop: () => clearTimeout(timer),
  };
}
