import { describe, expect, it } from 'vitest';
import type { SpeechModel } from '../models/manifest.ts';
import { recognizerConfig, spread } from './sherpa.ts';

const model: SpeechModel = {
  name: 'whisper',
  version: '1',
  type: 'whisper',
  languages: { eng: 'en', ger: 'de' },
  translatesToEnglish: true,
  files: { encoder: '/m/e', decoder: '/m/d', tokens: '/m/t' },
};

describe('the configuration of sherpa-onnx', () => {
  it.each([
    [
      { audio: null, subtitles: null },
      { language: '', task: 'transcribe' },
    ],
    [
      { audio: 'ger', subtitles: null },
      { language: 'de', task: 'transcribe' },
    ],
    [
      { audio: 'ger', subtitles: 'eng' },
      { language: 'de', task: 'translate' },
    ],
    [
      { audio: 'eng', subtitles: 'eng' },
      { language: 'en', task: 'transcribe' },
    ],
  ])('of whisper for %o', (wish, options) => {
    expect(recognizerConfig(model, wish)).toMatchObject({
      modelConfig: {
        whisper: { encoder: '/m/e', decoder: '/m/d', ...options },
        tokens: '/m/t',
        numThreads: 1,
      },
    });
  });

  it('of SenseVoice', () => {
    const sense: SpeechModel = { ...model, type: 'sense-voice', files: { model: '/m/s', tokens: '/m/t' } };
    expect(recognizerConfig(sense, { audio: null, subtitles: null })).toMatchObject({
      modelConfig: { senseVoice: { model: '/m/s', language: 'auto' }, tokens: '/m/t' },
    });
  });
});

it('spreads a text over its phrase by the length of its words', () => {
  expect(spread(' aa bbbbbb ', { from: 16_000, to: 80_000 })).toEqual([
    { text: 'aa', startSeconds: 1, endSeconds: 2, confidence: undefined },
    { text: 'bbbbbb', startSeconds: 2, endSeconds: 5, confidence: undefined },
  ]);
  expect(spread('', { from: 0, to: 1 })).toEqual([]);
});
