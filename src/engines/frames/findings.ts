import { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from '../../streaming/ai-tasks/nudity-labels.ts';
import type { Sighting } from '../interfaces.ts';
import type { FrameFinding, NsfwResult } from '../results.ts';

/** A frame's place among those that were looked at, and what was seen in it. */
export interface Seen {
  frame: number;
  confidence: number;
}

export const NSFW_FROM = 0.5;
const NSFW_LABEL = 'nsfw';

/**
 * One frame alone is no nsfw video: a classifier that sees 600 frames errs in one now and then. Two in a row it rarely
 * mistakes. A picture has no neighbours.
 */
export function nsfwResult(frames: readonly Seen[]): NsfwResult {
  const isOver = (index: number) => (frames[index]?.confidence ?? 0) > NSFW_FROM;
  const found = frames.filter(
    (_, index) => isOver(index) && (frames.length === 1 || isOver(index - 1) || isOver(index + 1)),
  );
  return {
    nsfw_detected: found.length > 0,
    detection_results: found.length > 0 ? [NSFW_LABEL] : [],
    frames: found.map(({ frame, confidence }) => finding(NSFW_LABEL, frame, confidence)),
  };
}

const PERSON = 'person';
const PERSON_FROM = 0.4;
export const SPORT_FROM = 0.45;

/** The things of COCO that only sport knows, and the sport where a thing belongs to one alone. */
const SPORTS: Readonly<Record<string, string>> = {
  'sports ball': 'sports ball',
  frisbee: 'frisbee',
  snowboard: 'snowboard',
  surfboard: 'surfboard',
  skis: 'skiing',
  skateboard: 'skateboarding',
  'tennis racket': 'playing tennis',
  'baseball bat': 'playing baseball',
  'baseball glove': 'playing baseball',
};

/** A thing of sport lying about is none; somebody must be there. */
export function sportsIn(sightings: readonly Sighting[]): Sighting[] {
  if (!sightings.some(({ label, confidence }) => label === PERSON && confidence >= PERSON_FROM)) return [];
  const best = new Map<string, number>();
  for (const { label, confidence } of sightings) {
    const sport = Object.hasOwn(SPORTS, label) ? SPORTS[label] : undefined;
    if (sport !== undefined && confidence >= SPORT_FROM)
      best.set(sport, Math.max(confidence, best.get(sport) ?? 0));
  }
  return [...best].map(([label, confidence]) => ({ label, confidence }));
}

export const NUDITY_FROM = 0.3;
export const HARD_NUDITY: ReadonlySet<string> = new Set(HARD_NUDITY_LABELS);
export const SOFT_NUDITY: ReadonlySet<string> = new Set(SOFT_NUDITY_LABELS);

export function finding(label: string, frame: number, confidence: number): FrameFinding {
  return { label, frame_number: frame, confidence: Number(confidence.toFixed(4)) };
}

/** Labels, the most frequent first. */
export function labelsOf(frames: readonly FrameFinding[]): string[] {
  const counts = new Map<string, number>();
  for (const { label } of frames) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([label]) => label);
}
