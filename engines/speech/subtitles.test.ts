import { describe, expect, it } from 'vitest';
import { WebVTTParser } from 'webvtt-parser';
import type { Word } from '../interfaces.ts';
import { subtitleTime, transcriptionResult } from './subtitles.ts';

const word = (text: string, startSeconds: number, endSeconds: number): Word => ({
  text,
  startSeconds,
  endSeconds,
  confidence: 1,
});
const parsed = (vtt: string) => new WebVTTParser().parse(vtt, 'metadata');

describe('times of subtitles', () => {
  it.each([
    [0, '00:00:00.000'],
    [59.9996, '00:01:00.000'],
    [3_661.5, '01:01:01.500'],
    [100 * 3_600, '100:00:00.000'],
    [-1, '00:00:00.000'],
  ])('%d s is %s', (seconds, text) => expect(subtitleTime(seconds)).toBe(text));
});

describe('subtitles', () => {
  it('end at a pause, after six seconds, and before they are too long to read', () => {
    const pause = [word('one', 0, 0.4), word('two', 0.5, 0.9), word('three', 1.6, 2)];
    expect(transcriptionResult(pause, ['eng']).subtitles.map(({ text }) => text)).toEqual(['one two', 'three']);
    const steady = Array.from({ length: 40 }, (_, index) => word('word', index * 0.5, index * 0.5 + 0.5));
    for (const { start_time, end_time, text } of transcriptionResult(steady, ['eng']).subtitles) {
      expect(text.length).toBeLessThanOrEqual(74);
      expect(Number(end_time.slice(6)) - Number(start_time.slice(6))).toBeLessThanOrEqual(6);
    }
  });

  it('are WebVTT that a strict parser accepts, with the same times and texts', () => {
    const words = [word('a<b>', 0, 0.5), word('x & y -->', 2, 2.5), word('last', 3_700, 3_701)];
    const { vttContent, subtitles } = transcriptionResult(words, ['eng']);
    const { errors, cues } = parsed(vttContent);
    expect(errors).toEqual([]);
    expect(cues.map((cue) => [subtitleTime(cue.startTime), subtitleTime(cue.endTime)])).toEqual(
      subtitles.map(({ start_time, end_time }) => [start_time, end_time]),
    );
    expect(cues.map((cue) => cue.text)).toEqual(['a&lt;b&gt;', 'x &amp; y --&gt;', 'last']);
  });

  it('last some time and do not overlap, whatever the recogniser says', () => {
    const { subtitles } = transcriptionResult([word('a', 1, 1), word('b', 1.05, 3), word('c', 9, 8)], ['eng']);
    expect(subtitles).toEqual([
      { start_time: '00:00:01.000', end_time: '00:00:03.000', text: 'a b' },
      { start_time: '00:00:09.000', end_time: '00:00:09.100', text: 'c' },
    ]);
  });

  it('of nothing are an empty WebVTT file', () => {
    const result = transcriptionResult([], []);
    expect(result).toEqual({
      speech_detected: false,
      concatenated_text: '',
      subtitles: [],
      vttContent: 'WEBVTT\n',
      languages: [],
    });
    expect(parsed(result.vttContent).errors).toEqual([]);
  });
});
