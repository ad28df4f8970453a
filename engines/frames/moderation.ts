import type { Frame, FrameForm, FrameModerator, FramePlan, ObjectDetector } from '../interfaces.ts';
import type { ModerationJob } from '../job.ts';
import type { Report } from '../report.ts';
import type { FrameFinding, NsfwResult, NudityResult, SportResult } from '../results.ts';
import {
  finding,
  HARD_NUDITY,
  labelsOf,
  NUDITY_FROM,
  nsfwResult,
  type Seen,
  SOFT_NUDITY,
  sportsIn,
} from './findings.ts';

/** A medium to classify. */
export interface Look {
  durationSeconds: number;
  /** Returns its pictures at even intervals. @throws UnusableMediaError */
  frames(plan: FramePlan): AsyncIterable<Frame>;
  maxFrames: number;
  report: Report;
}

const MIN_INTERVAL_SECONDS = 1;

/** Yields the pictures to classify: one a second, or fewer for a long video. */
async function* looked(look: Look, form: FrameForm): AsyncGenerator<Frame> {
  const { durationSeconds, maxFrames, report } = look;
  const intervalSeconds = Math.max(MIN_INTERVAL_SECONDS, durationSeconds / maxFrames);
  const planned = Math.max(1, Math.ceil(durationSeconds / intervalSeconds));
  report.stage('classification');
  let count = 0;
  for await (const frame of look.frames({ ...form, intervalSeconds })) {
    yield frame;
    report.progress(++count / planned);
    if (count >= maxFrames) break;
  }
}

export async function findNsfw(look: Look, moderator: FrameModerator): Promise<NsfwResult> {
  const seen: Seen[] = [];
  for await (const frame of looked(look, moderator.form))
    seen.push({ frame: frame.number, confidence: await moderator.confidence(frame) });
  return nsfwResult(seen);
}

export async function findSport(look: Look, detector: ObjectDetector): Promise<SportResult> {
  const frames: FrameFinding[] = [];
  for await (const frame of looked(look, detector.form)) {
    for (const { label, confidence } of sportsIn(await detector.detect(frame)))
      frames.push(finding(label, frame.number, confidence));
  }
  return { sport_detected: frames.length > 0, detection_results: labelsOf(frames), frames };
}

export async function findNudity(
  look: Look,
  detector: ObjectDetector,
  { category, stopObjects }: Pick<ModerationJob, 'category' | 'stopObjects'>,
): Promise<NudityResult> {
  const wanted = category === 'hard_nudity' ? HARD_NUDITY : SOFT_NUDITY;
  const frames: FrameFinding[] = [];
  for await (const frame of looked(look, detector.form)) {
    const sightings = (await detector.detect(frame)).filter(
      ({ label, confidence }) => wanted.has(label) && confidence >= NUDITY_FROM,
    );
    for (const { label, confidence } of sightings) frames.push(finding(label, frame.number, confidence));
    const stops = stopObjects.some((stop) =>
      sightings.some(({ label, confidence }) => label === stop.label && confidence >= (stop.probability ?? 0)),
    );
    if (stops) break;
  }
  return { nudity_detected: frames.length > 0, detection_results: labelsOf(frames), frames };
}
