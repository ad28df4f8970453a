import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { UnusableMediaError } from '../interfaces.ts';
import type { Programs, Running } from '../programs.ts';
import { inputArguments, MAX_PIXELS } from './arguments.ts';
import { formatOf, type MediaFormat } from './formats.ts';

const Decimal = Type.Optional(Type.String());

/** The part of ffprobe's output that is used. */
const Probe = Type.Object({
  streams: Type.Array(
    Type.Object({
      codec_type: Type.Optional(Type.String()),
      width: Type.Optional(Type.Number()),
      height: Type.Optional(Type.Number()),
      avg_frame_rate: Type.Optional(Type.String()),
      r_frame_rate: Type.Optional(Type.String()),
      duration: Decimal,
      disposition: Type.Optional(Type.Object({ attached_pic: Type.Optional(Type.Number()) })),
    }),
  ),
  format: Type.Object({ duration: Decimal }),
});
/** Only these entries, since a file may contain any amount of other text. */
const ASKED =
  'stream=codec_type,width,height,avg_frame_rate,r_frame_rate,duration:stream_disposition=attached_pic:format=duration';
type Stream = Static<typeof Probe>['streams'][number];

/** A file to inspect with ffprobe. */
interface Asked {
  programs: Programs;
  ffprobe: string;
  media: string;
  source: MediaFormat;
}

/** How key frames are spread over a video. */
interface KeyFrames {
  lastSeconds: number;
  /** The longest interval without a picture that can be decoded on its own. */
  longestGapSeconds: number;
}

/** The properties of a usable medium. */
export interface InspectedMedia {
  source: MediaFormat;
  format: string;
  kind: 'picture' | 'audio' | 'video';
  /** A picture counts as one second. */
  durationSeconds: number;
  hasAudio: boolean;
  picture: { width: number; height: number; framesPerSecond: number } | undefined;
  /** Length of the audio track alone, if the file states it. */
  audioSeconds: number | undefined;
}

/** @throws UnusableMediaError saying what is wrong with the file */
export async function inspect(
  programs: Programs,
  ffprobe: string,
  media: string,
  maxDurationSeconds: number,
): Promise<InspectedMedia> {
  const source = await formatOf(media);
  const asked = { programs, ffprobe, media, source };
  const probe = await probeOf(asked);
  const video = probe.streams.find(
    ({ codec_type, disposition }) => codec_type === 'video' && disposition?.attached_pic !== 1,
  );
  const audio = probe.streams.find(({ codec_type }) => codec_type === 'audio');
  if (!video && !audio) throw new UnusableMediaError(`The ${source.name} file has no audio and no video.`);
  if (video) checkDimensions(video, source);
  const durationSeconds = source.still ? 1 : await durationOf(asked, probe, video ? 'v:0' : 'a:0');
  checkDuration(durationSeconds, maxDurationSeconds);
  return {
    source,
    format: source.name,
    kind: source.still ? 'picture' : video ? 'video' : 'audio',
    durationSeconds,
    hasAudio: audio !== undefined,
    audioSeconds: seconds(audio?.duration),
    picture: video && {
      width: video.width ?? 0,
      height: video.height ?? 0,
      framesPerSecond: source.still ? 1 : rateOf(video),
    },
  };
}

async function probeOf({ programs, ffprobe, media, source }: Asked): Promise<Static<typeof Probe>> {
  const run = programs.start(ffprobe, [...inputArguments(source, media), ...['-of', 'json', '-show_entries', ASKED]]);
  const [answer, { ok, stopped }] = await Promise.all([text(run.stdout), run.ended]);
  if (stopped !== undefined)
    throw new UnusableMediaError(`The ${source.name} file takes too much time, memory or space to read.`);
  const parsed: unknown = ok ? JSON.parse(answer) : undefined;
  if (!Value.Check(Probe, parsed)) throw unreadable(source, run);
  return parsed;
}

export function unreadable(source: MediaFormat, run: Pick<Running, 'complaint'>): UnusableMediaError {
  const said = run.complaint();
  const detail = /moov atom not found/.test(said) ? ' (its index, the moov atom, is missing)' : '';
  return new UnusableMediaError(`The file can't be read as ${source.name}: it is damaged or incomplete${detail}.`);
}

function checkDimensions({ width = 0, height = 0 }: Stream, { name }: MediaFormat): void {
  if (width * height > MAX_PIXELS) {
    throw new UnusableMediaError(
      `The picture is too large: ${width} x ${height} pixels; at most ${MAX_PIXELS / 1_000_000} million are accepted.`,
    );
  }
  if (width < 1 || height < 1) {
    throw new UnusableMediaError(
      `The file can't be read as ${name}: its picture is damaged, incomplete or larger than ${MAX_PIXELS / 1_000_000} million pixels.`,
    );
  }
}

function checkDuration(durationSeconds: number, max: number): void {
  if (!(durationSeconds > 0)) throw new UnusableMediaError('The file has no content: it lasts 0 seconds.');
  if (durationSeconds > max) {
    throw new UnusableMediaError(
      `The file lasts ${Math.round(durationSeconds)} seconds; at most ${max} are accepted. Send it in parts.`,
    );
  }
}

/** Live recordings don't state their length; then the time of the last packet counts. */
async function durationOf(asked: Asked, probe: Static<typeof Probe>, track: string): Promise<number> {
  const said = [probe.format.duration, ...probe.streams.map(({ duration }) => duration)].map(seconds);
  const longest = Math.max(...said.map((value) => value ?? 0));
  return longest > 0 ? longest : (await readKeyFrames(asked, track)).lastSeconds;
}

/** Reads the packets of a track without decoding them. */
export async function readKeyFrames({ programs, ffprobe, media, source }: Asked, track: string): Promise<KeyFrames> {
  const run = programs.start(ffprobe, [
    ...inputArguments(source, media),
    ...['-select_streams', track, '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'],
  ]);
  let lastSeconds = 0;
  let lastKey = 0;
  let longestGapSeconds = 0;
  for await (const line of createInterface({ input: run.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    const [time = '', flags = ''] = line.split(',');
    const at = seconds(time);
    if (at === undefined) continue;
    lastSeconds = Math.max(lastSeconds, at);
    if (!flags.startsWith('K')) continue;
    longestGapSeconds = Math.max(longestGapSeconds, at - lastKey);
    lastKey = at;
  }
  const { ok } = await run.ended;
  if (!ok) throw unreadable(source, run);
  return { lastSeconds, longestGapSeconds: Math.max(longestGapSeconds, lastSeconds - lastKey) };
}

function seconds(value: string | undefined): number | undefined {
  const number = Number(value);
  return value !== undefined && value !== '' && Number.isFinite(number) ? number : undefined;
}

const USUAL_RATE = 25;
const MAX_RATE = 1_000;

function rateOf({ avg_frame_rate, r_frame_rate }: Stream): number {
  const rates = [avg_frame_rate, r_frame_rate].map((fraction = '') => {
    const [count = 0, per = 0] = fraction.split('/').map(Number);
    return count / per;
  });
  return rates.find((rate) => rate > 0 && rate <= MAX_RATE) ?? USUAL_RATE;
}
