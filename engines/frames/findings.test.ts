import { describe, expect, it } from 'vitest';
import { finding, labelsOf, nsfwResult, sportsIn } from './findings.ts';

const seen = (...confidences: number[]) => confidences.map((confidence, index) => ({ frame: index * 25, confidence }));
const framesOf = (...confidences: number[]) =>
  nsfwResult(seen(...confidences)).frames.map(({ frame_number }) => frame_number / 25);

describe('nsfw', () => {
  it.each([
    ['a picture alone counts', [0.9], [0]],
    ['exactly 50 % is not over it', [0.5], []],
    ['two neighbours count', [0.1, 0.6, 0.7, 0.2], [1, 2]],
    ['one frame of many does not', [0.1, 0.9, 0.1], []],
    ['two that are apart do not', [0.9, 0.1, 0.9], []],
    ['lonely ones stay out beside neighbours', [0.9, 0.1, 0.9, 0.9], [2, 3]],
  ])('%s', (_, confidences, frames) => expect(framesOf(...confidences)).toEqual(frames));

  it('answers in the words of the contract', () => {
    expect(nsfwResult(seen(0.91234567))).toEqual({
      nsfw_detected: true,
      detection_results: ['nsfw'],
      frames: [{ label: 'nsfw', frame_number: 0, confidence: 0.9123 }],
    });
    expect(nsfwResult(seen(0.2))).toEqual({ nsfw_detected: false, detection_results: [], frames: [] });
  });
});

describe('sport', () => {
  const person = { label: 'person', confidence: 0.4 };
  it.each([
    ['a ball and a person', [person, { label: 'sports ball', confidence: 0.45 }], ['sports ball']],
    ['a ball alone', [{ label: 'sports ball', confidence: 0.9 }], []],
    ['a ball that is hardly seen', [person, { label: 'sports ball', confidence: 0.44 }], []],
    [
      'a person hardly seen',
      [
        { ...person, confidence: 0.39 },
        { label: 'skis', confidence: 0.9 },
      ],
      [],
    ],
    ['a cyclist', [person, { label: 'bicycle', confidence: 0.9 }], []],
    ['skis', [person, { label: 'skis', confidence: 0.8 }], ['skiing']],
    [
      'bat and glove are one sport',
      [person, { label: 'baseball bat', confidence: 0.5 }, { label: 'baseball glove', confidence: 0.7 }],
      ['playing baseball'],
    ],
  ])('%s', (_, sightings, sports) => expect(sportsIn(sightings).map(({ label }) => label)).toEqual(sports));

  it('takes the surest sighting', () => {
    const sightings = [person, ...[0.5, 0.7, 0.6].map((confidence) => ({ label: 'skis', confidence }))];
    expect(sportsIn(sightings)).toEqual([{ label: 'skiing', confidence: 0.7 }]);
  });
});

it('names the most frequent labels first', () => {
  const frames = ['a', 'b', 'b'].map((label, index) => finding(label, index, 0.5));
  expect(labelsOf(frames)).toEqual(['b', 'a']);
});
