import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { WebVTTParser } from 'webvtt-parser';
import { analysed, jobFor, makeMedia, needs } from '../../test/support/engines.ts';
import { flite } from '../../test/support/speech.ts';
import { TranscriptionResult } from '../results.ts';
import { subtitleTime } from './subtitles.ts';

const TIMEOUT_MS = 300_000;
const TALK =
  'Thank you for joining this meeting today. I would like to talk about three things. First we will look at the ' +
  'numbers of the last year. Then I am going to show you what our customers told us about the new product.';
async function transcribed(media: string, wish: { audioLanguage?: string; subtitlesLanguage?: string } = {}) {
  const { result, messages } = await analysed(jobFor(media, { kind: 'transcription', ...wish }));
  if (!Value.Check(TranscriptionResult, result)) throw new Error('not a result of a transcription');
  return { result, messages };
}

describe('transcription of a synthetic voice', needs('speech', 'flite'), () => {
  it(
    'has the same words and times in subtitles and WebVTT, and progress that only grows',
    async () => {
      const { result, messages } = await transcribed(makeMedia('talk.mp4', '-i', flite(TALK.repeat(2))));
      expect(result).toMatchObject({ speech_detected: true, languages: ['eng'] });

      const { errors: faults, cues } = new WebVTTParser().parse(result.vttContent, 'metadata');
      expect(faults).toEqual([]);
      expect(
        cues.map(({ startTime, endTime, text }) => ({
          start_time: subtitleTime(startTime),
          end_time: subtitleTime(endTime),
          text,
        })),
      ).toEqual(result.subtitles);
      const [first] = cues;
      expect(first?.startTime).toBeLessThan(1);
      expect(cues.at(-1)?.endTime).toBeGreaterThan(10);

      const stages = messages.flatMap((message) => (message.type === 'stage' ? [message.name] : []));
      expect(stages).toEqual(['inspection', 'decoding', 'recognition']);
      const percents = messages.flatMap((message) => (message.type === 'progress' ? [message.percent] : []));
      expect(percents).toEqual([...percents].sort((a, b) => a - b));
      expect(percents.length).toBeGreaterThan(1);
    },
    TIMEOUT_MS,
  );

  it(
    'takes either code of a language, and refuses what the model does not know',
    async () => {
      const speech = flite('Good morning everybody.');
      const { result } = await transcribed(speech, { audioLanguage: 'eng', subtitlesLanguage: 'eng' });
      expect(result.speech_detected).toBe(true);
      await expect(transcribed(speech, { audioLanguage: 'deu' })).rejects.toThrow(
        "Speech in the language ger can't be transcribed: the installed models know eng.",
      );
      await expect(transcribed(speech, { subtitlesLanguage: 'fre' })).rejects.toThrow('Subtitles in fre');
    },
    TIMEOUT_MS,
  );
});

describe('sound without speech', needs('speech'), () => {
  it.each([
    ['a tone', 'sine=f=440:d=8'],
    ['noise', 'anoisesrc=d=8:a=0.3:seed=1'],
    ['silence', 'anullsrc=d=8'],
  ])('%s makes no subtitles', async (_, source) => {
    const media = makeMedia('sound.wav', '-f', 'lavfi', '-i', source, '-t', '8');
    const { result } = await transcribed(media);
    expect(result).toEqual({
      speech_detected: false,
      concatenated_text: '',
      subtitles: [],
      vttContent: 'WEBVTT\n',
      languages: [],
    });
  });
});
