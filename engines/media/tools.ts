import fs from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Frame, type FramePlan, type Recording, UnusableMediaError } from '../interfaces.ts';
import type { AnalysisLimits } from '../job.ts';
import type { Programs, Running } from '../programs.ts';
import { BYTES_PER_SAMPLE, SAMPLE_RATE } from '../speech/recording.ts';
import { inputArguments } from './arguments.ts';
import { type InspectedMedia, inspect, readKeyFrames, unreadable } from './inspection.ts';

/** Tracks end a little earlier than the file states; if more than this is missing, the file is truncated. */
const TOLERATED_SHARE = 0.9;
const TOLERATED_SECONDS = 1;
/** For shorter media, decoding everything costs less than looking for a shortcut. */
const KEY_FRAMES_FROM_SECONDS = 120;

interface Options {
  programs: Programs;
  ffmpeg: string;
  ffprobe: string;
  folder: string;
  limits: Pick<AnalysisLimits, 'durationSeconds'>;
}

/** Runs Debian's ffmpeg in separate processes. All functions throw UnusableMediaError. */
export function createMediaTools(options: Options) {
  const { programs, ffmpeg, ffprobe, folder, limits } = options;

  return {
    inspect: (media: string) => inspect(programs, ffprobe, media, limits.durationSeconds),

    /** Records the first audio track. @param heard receives the share that is done */
    async record(media: string, facts: InspectedMedia, heard: (share: number) => void): Promise<Recording> {
      if (!facts.hasAudio) throw new UnusableMediaError(`The ${facts.format} file has no audio track.`);
      const file = path.join(folder, 'audio.raw');
      const run = programs.start(ffmpeg, [
        ...['-nostdin', ...inputArguments(facts.source, media)],
        ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(SAMPLE_RATE)],
        ...['-t', String(limits.durationSeconds), '-progress', 'pipe:1', '-nostats', '-f', 's16le', file],
      ]);
      for await (const line of createInterface({ input: run.stdout })) {
        const [name, value] = line.split('=');
        const seconds = name === 'out_time_us' ? Number(value) / 1e6 : Number.NaN;
        if (seconds > 0) heard(Math.min(1, seconds / facts.durationSeconds));
      }
      await expectEnd(run, facts);
      const samples = Math.floor((await fs.stat(file)).size / BYTES_PER_SAMPLE);
      if (samples === 0) throw unreadable(facts.source, run);
      expectWhole(samples / SAMPLE_RATE, facts.audioSeconds);
      return { file, samples };
    },

    /** Yields pictures at even intervals. */
    async *frames(media: string, facts: InspectedMedia, plan: FramePlan): AsyncGenerator<Frame> {
      if (!facts.picture) throw new UnusableMediaError(`The ${facts.format} file has no video track.`);
      const skip = (await keyFramesSuffice(media, facts, plan)) ? ['-skip_frame', 'nokey'] : [];
      const run = programs.start(ffmpeg, [
        ...['-nostdin', ...skip, ...inputArguments(facts.source, media)],
        ...['-map', '0:v:0', '-an', '-sn', '-dn', '-vf', filterOf(plan), '-vsync', 'passthrough'],
        ...['-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
      ]);
      try {
        let last = 0;
        let count = 0;
        for await (const frame of framesOf(run, plan.size)) {
          last = frame.seconds;
          count++;
          yield { rgb: frame.rgb, number: Math.round(frame.seconds * facts.picture.framesPerSecond) };
        }
        await expectEnd(run, facts);
        if (count === 0 || (facts.kind === 'picture' && run.complaint() !== '')) throw unreadable(facts.source, run);
        if (facts.kind === 'video') expectWhole(last + plan.intervalSeconds, facts.durationSeconds);
      } finally {
        run.kill();
      }
    },
  };

  /** Whether every interval has a key frame, so that only key frames need decoding. */
  async function keyFramesSuffice(media: string, facts: InspectedMedia, plan: FramePlan): Promise<boolean> {
    if (facts.durationSeconds < KEY_FRAMES_FROM_SECONDS) return false;
    const asked = { programs, ffprobe, media, source: facts.source };
    const { longestGapSeconds } = await readKeyFrames(asked, 'v:0');
    return longestGapSeconds <= plan.intervalSeconds;
  }
}

/**
 * Returns the filter for the first picture of each interval, as a square; it writes the picture's time to
 * file descriptor 3.
 */
function filterOf({ size, fit, intervalSeconds }: FramePlan): string {
  const of = (time: string) => `floor(${time}/${intervalSeconds})`;
  return [
    `select='isnan(prev_selected_t)+gt(${of('t')},${of('prev_selected_t')})'`,
    ...(fit === 'stretch'
      ? [`scale=${size}:${size}:flags=bilinear`]
      : [`scale=${size}:${size}:force_original_aspect_ratio=decrease:flags=bilinear`, `pad=${size}:${size}:0:0:black`]),
    // Only frames that carry metadata are printed.
    'metadata=add:key=s:value=1',
    'metadata=print:file=pipe\\\\:3:direct=1',
  ].join(',');
}

async function* framesOf(run: Running, size: number): AsyncGenerator<{ rgb: Frame['rgb']; seconds: number }> {
  const times: number[] = [];
  const notes = createInterface({ input: run.notes }).on('line', (line) => {
    const time = /^frame:.*pts_time:(-?[\d.]+)/.exec(line)?.[1];
    if (time !== undefined) times.push(Number(time));
  });
  const bytes = size * size * 3;
  let frame = new Uint8Array(bytes);
  let filled = 0;
  let last = 0;
  for await (const chunk of run.stdout as AsyncIterable<Buffer>) {
    for (let offset = 0; offset < chunk.length; ) {
      const part = chunk.subarray(offset, offset + bytes - filled);
      frame.set(part, filled);
      filled += part.length;
      offset += part.length;
      if (filled < bytes) continue;
      // The time is written before the picture, but may arrive after it.
      for (let turn = 0; times.length === 0 && turn < 100; turn++) await new Promise(setImmediate);
      last = times.shift() ?? last;
      yield { rgb: frame, seconds: last };
      frame = new Uint8Array(bytes);
      filled = 0;
    }
  }
  notes.close();
}

async function expectEnd(run: Running, facts: InspectedMedia): Promise<void> {
  const { ok, stopped } = await run.ended;
  if (stopped === 'time') throw new UnusableMediaError(`The ${facts.format} file takes too long to decode.`);
  if (stopped === 'limit')
    throw new UnusableMediaError(`The ${facts.format} file takes too much time, memory or space to decode.`);
  if (!ok) throw unreadable(facts.source, run);
}

function expectWhole(read: number, promised: number | undefined): void {
  if (promised === undefined || read >= promised * TOLERATED_SHARE - TOLERATED_SECONDS) return;
  throw new UnusableMediaError(
    `The file ends early: ${read.toFixed(1)} of its ${promised.toFixed(1)} seconds can be read; it is incomplete or damaged.`,
  );
}
