import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../test/support/engine-settings.ts';
import { DEFAULT_LIMITS, readMessage, readOrder } from './job.ts';

const job = {
  kind: 'transcription',
  media: '/tmp/a/media',
  folder: '/tmp/a',
  audioLanguage: 'ger',
  subtitlesLanguage: null,
  limits: DEFAULT_LIMITS,
};
const moderation = { ...job, kind: 'content-moderation', category: 'hard_nudity', stopObjects: [] };

describe('an order to the child', () => {
  it('is taken as it is', () => {
    const order = { job, settings: DEFAULT_SETTINGS };
    expect(readOrder(order)).toBe(order);
  });

  it.each([
    ['no job', {}],
    ['a relative path', { ...job, media: 'media' }],
    ['an unknown kind', { ...job, kind: 'translation' }],
    ['an unknown field', { ...job, token: '1_secret' }],
    ['a language that is no code', { ...job, audioLanguage: 'German' }],
    ['a category unknown here', { ...moderation, category: 'weapon', audioLanguage: undefined }],
    ['no limits', { ...job, limits: undefined }],
  ])('with %s is refused', (_, bad) => {
    expect(() => readOrder({ job: bad, settings: DEFAULT_SETTINGS })).toThrow('Not an order');
  });
});

describe('a message of the child', () => {
  it.each([
    { type: 'stage', name: 'decoding' },
    { type: 'facts', durationSeconds: 1.5 },
    { type: 'facts', durationSeconds: 1.5, framesPerSecond: 29.97 },
    { type: 'progress', percent: 100 },
    { type: 'failed', reason: 'The file is empty (0 bytes).' },
    { type: 'fault', message: 'out of memory' },
    { type: 'result', result: { nsfw_detected: false, detection_results: [], frames: [] } },
    {
      type: 'result',
      result: {
        sport_detected: true,
        detection_results: ['skiing'],
        frames: [{ label: 'skiing', frame_number: 0, confidence: 0.5 }],
      },
    },
  ])('is taken: $type', (message) => {
    expect(readMessage(message)).toBe(message);
  });

  it.each([
    ['text', 'done'],
    ['progress past the end', { type: 'progress', percent: 101 }],
    ['broken progress', { type: 'progress', percent: 1.5 }],
    ['a film that stands still', { type: 'facts', durationSeconds: 1.5, framesPerSecond: 0 }],
    ['an unknown stage', { type: 'stage', name: 'dreaming' }],
    ['no reason', { type: 'failed', reason: '' }],
    ['no result', { type: 'result', result: {} }],
    [
      'a confidence over 1',
      {
        type: 'result',
        result: {
          nsfw_detected: true,
          detection_results: ['nsfw'],
          frames: [{ label: 'nsfw', frame_number: 0, confidence: 1.1 }],
        },
      },
    ],
  ])('that is %s is refused', (_, message) => {
    expect(() => readMessage(message)).toThrow('Not a message');
  });
});
