import type { Sighting } from '../interfaces.ts';
import { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from '../nudity-labels.ts';
import type { FrameFinding, NsfwResult } from '../results.ts';

/** The index of a frame among those that were classified, and the result. */
export interface Seen {
  frame: number;
  confidence: number;
}

export const NSFW_FROM = 0.5;
const NSFW_LABEL = 'nsfw';

/**
 * A single frame does not make a video nsfw: a classifier that sees 600 frames occasionally errs in one, but
 * rarely in two in a row. A picture has no neighbours.
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

/** COCO's objects that only occur in sports, and the name of the sport if the object belongs to a single one. */
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

/** Sports equipment alone is no sport: a person must be visible too. */
export function sportsIn(sightings: readonly Sighting[]): Sighting[] {
  if (!sightings.some(({ label, confidence }) => label === PERSON && confidence >= PERSON_FROM)) return [];
  const best = new Map<string, number>();
  for (const { label, confidence } of sightings) {
    const sport = Object.hasOwn(SPORTS, label) ? SPORTS[label] : undefined;
    if (sport !== undefined && confidence >= SPORT_FROM) best.set(sport, Math.max(confidence, best.get(sport) ?? 0));
  }
  return [...best].map(([label, confidence]) => ({ label, confidence }));
}

export const NUDITY_FROM = 0.3;
export const HARD_NUDITY: ReadonlySet<string> = new Set(HARD_NUDITY_LABELS);
export const SOFT_NUDITY: ReadonlySet<string> = new Set(SOFT_NUDITY_LABELS);

export function finding(label: string, frame: number, confidence: number): FrameFinding {
  return { label, frame_number: frame, confidence: Number(confidence.toFixed(4)) };
}

/** Returns the labels, the most frequent first. */
export function labelsOf(frames: readonly FrameFinding[]): string[] {
  const counts = new Map<string, number>();
  for (const { label } of frames) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([label]) => label);
}
