import { describe, expect, it } from 'vitest';
import type { Frame, ObjectDetector, Sighting } from '../interfaces.ts';
import type { Report } from '../report.ts';
import { findNsfw, findNudity, findSport, type Look } from './moderation.ts';

const silent: Report = { stage: () => {}, facts: () => {}, progress: () => {} };
const form = { size: 1, fit: 'stretch' } as const;

/** A film with 10 frames a second, which records how it is read. */
function film(durationSeconds: number) {
  const plans: number[] = [];
  let closed = false;
  async function* frames(interval: number): AsyncGenerator<Frame> {
    try {
      for (let at = 0; at < durationSeconds; at += interval)
        yield { number: Math.round(at * 10), rgb: new Uint8Array([0, 0, 0]) };
    } finally {
      closed = true;
    }
  }
  const look: Look = {
    durationSeconds,
    frames({ intervalSeconds }) {
      plans.push(intervalSeconds);
      return frames(intervalSeconds);
    },
    maxFrames: 600,
    report: silent,
  };
  return {
    look,
    plans,
    isClosed: () => closed,
  };
}

function detector(sightings: (frame: Frame) => Sighting[]): ObjectDetector & { seen: number[] } {
  const seen: number[] = [];
  return {
    seen,
    form,
    detect(frame) {
      seen.push(frame.number);
      return Promise.resolve(sightings(frame));
    },
  };
}

describe('the frames that are looked at', () => {
  it.each([
    [10, 1, 10],
    [600, 1, 600],
    [7_200, 12, 600],
  ])('a film of %d s is looked at every %d s', async (duration, interval, count) => {
    const { look, plans } = film(duration);
    const eye = detector(() => []);
    await findSport(look, eye);
    expect(plans).toEqual([interval]);
    expect(eye.seen).toHaveLength(count);
  });

  it('are told in progress that ends at 100 %', async () => {
    const { look } = film(10);
    const shares: number[] = [];
    const report = { ...silent, progress: (share: number) => void shares.push(share) };
    await findNsfw({ ...look, report }, { form, confidence: () => Promise.resolve(0) });
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
  });
});

describe('nudity', () => {
  const sightings = ({ number }: Frame): Sighting[] => [
    { label: 'FACE_MALE', confidence: 0.9 },
    { label: 'FEMALE_BREAST_EXPOSED', confidence: number / 100 },
    { label: 'SHOE', confidence: 1 },
  ];

  it('hard: only what is exposed, from 30 % up', async () => {
    const result = await findNudity(film(5).look, detector(sightings), {
      category: 'hard_nudity',
      stopObjects: [],
    });
    expect(result).toEqual({
      nudity_detected: true,
      detection_results: ['FEMALE_BREAST_EXPOSED'],
      frames: [
        { label: 'FEMALE_BREAST_EXPOSED', frame_number: 30, confidence: 0.3 },
        { label: 'FEMALE_BREAST_EXPOSED', frame_number: 40, confidence: 0.4 },
      ],
    });
  });

  it('soft: faces and covered parts too', async () => {
    const result = await findNudity(film(5).look, detector(sightings), {
      category: 'soft_nudity',
      stopObjects: [],
    });
    expect(result.detection_results).toEqual(['FACE_MALE', 'FEMALE_BREAST_EXPOSED']);
  });

  it.each([
    ['any sighting', undefined, 30],
    ['a sure sighting', 0.5, 50],
    ['a sighting that is never so sure', 0.95, 90],
  ])('a stop object ends the analysis: %s', async (_, probability, last) => {
    const { look, isClosed } = film(10);
    const eye = detector(sightings);
    await findNudity(look, eye, {
      category: 'hard_nudity',
      stopObjects: [{ label: 'FEMALE_BREAST_EXPOSED', ...(probability !== undefined && { probability }) }],
    });
    expect(eye.seen.at(-1)).toBe(last);
    expect(isClosed()).toBe(true);
  });
});
