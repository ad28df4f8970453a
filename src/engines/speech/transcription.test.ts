import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { WebVTTParser } from 'webvtt-parser';
import {
  analysed,
  jobFor,
  makeFile,
  makeMedia,
  material,
  needs,
  newFile,
} from '../../../test/support/engines.ts';
import { TranscriptionResult } from '../results.ts';
import { subtitleTime } from './subtitles.ts';

const TIMEOUT_MS = 300_000;
/** A tale, news and a talk: how well the model does depends much on what is said. */
const FLITE_TEXTS = [
  'The old lighthouse stood at the end of a long and narrow road. Every evening the keeper climbed the stairs and ' +
    'lit the lamp, so that ships could find their way into the harbor. One winter night a heavy storm came from the ' +
    'north. The wind broke two of the windows, and the rain put out the light. The keeper did not give up. He carried ' +
    'wood and paper to the top of the tower, and made a fire that could be seen for many miles. In the morning every ' +
    'ship had come home.',
  'The government said on Tuesday that it would spend more money on schools and hospitals next year. Officials hope ' +
    'that the plan will help families who live far away from the big cities. The president of the national bank told ' +
    'reporters that the economy was growing again, but that prices were still too high. In the north of the country ' +
    'heavy rain closed several roads on Monday night. The police asked people to stay at home until the weather gets ' +
    'better. The football team won its last game of the season by two goals.',
  'Thank you for joining this meeting today. I would like to talk about three things. First we will look at the ' +
    'numbers of the last year. Then I am going to show you what our customers told us about the new product. After ' +
    'that we will decide together what to do next. If you have any questions, please ask them at any time. Most ' +
    'people said that they like the design, but that it takes too long to start. We have found the reason for this ' +
    'problem and we expect to fix it before the end of the month.',
];

async function transcribed(media: string, wish: { audioLanguage?: string; subtitlesLanguage?: string } = {}) {
  const { result, messages } = await analysed(jobFor(media, { kind: 'transcription', ...wish }));
  if (!Value.Check(TranscriptionResult, result)) throw new Error('not a result of a transcription');
  return { result, messages };
}

const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/\bmr\b/g, 'mister')
    .replace(/[^a-z' ]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);

/** Words put in, left out or mistaken, for each word said. */
function wordErrorRate(said: string, heard: string): number {
  const reference = wordsOf(said);
  const hypothesis = wordsOf(heard);
  let row = hypothesis.map((_, index) => index + 1);
  for (const [index, word] of reference.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, column) => {
      left = Math.min(diagonal + (word === hypothesis[column] ? 0 : 1), above + 1, left + 1);
      diagonal = above;
      return left;
    });
  }
  return (row.at(-1) ?? reference.length) / reference.length;
}

function flite(text: string): string {
  const file = newFile('flite.wav');
  execFileSync('flite', ['-voice', 'slt', '-t', text, '-o', file]);
  return file;
}

it('word errors are counted as edits of words', () => {
  expect(wordErrorRate('a b c d', 'a b c d')).toBe(0);
  expect(wordErrorRate('a b c d', 'a x c')).toBe(0.5);
  expect(wordErrorRate('a b', 'a b c')).toBe(0.5);
  expect(wordErrorRate('a b', '')).toBe(1);
});

describe('transcription of a synthetic voice', needs('speech', 'flite'), () => {
  it(
    'has at most 15 % of the words wrong, in a valid WebVTT, with progress that only grows',
    async () => {
      const text = FLITE_TEXTS.join(' ');
      const speech = flite(text);
      const video = makeMedia('talk.mp4', '-i', speech, '-f', 'lavfi', '-i', 'testsrc2=r=10', '-shortest');
      const { result, messages } = await transcribed(video);
      const errors = wordErrorRate(text, result.concatenated_text);
      process.stdout.write(`WER of flite slt: ${(errors * 100).toFixed(1)} %\n`);
      expect(errors).toBeLessThanOrEqual(0.15);
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
      expect(cues.at(-1)?.endTime).toBeGreaterThan(20);

      const stages = messages.flatMap((message) => (message.type === 'stage' ? [message.name] : []));
      expect(stages).toEqual(['inspection', 'decoding', 'recognition']);
      const percents = messages.flatMap((message) => (message.type === 'progress' ? [message.percent] : []));
      expect(percents).toEqual([...percents].sort((a, b) => a - b));
      expect(percents.length).toBeGreaterThan(3);
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

describe('transcription of human voices', needs('speech', 'librivox'), () => {
  it(
    'has at most 27 % of the words wrong',
    async () => {
      const lines = fs.readFileSync(`${material.librivox}/transcription`, 'utf8').trim().split('\n');
      const spoken = lines.flatMap((line) => {
        const [, text, id] = /^<s> (.*) <\/s> \((.*)\)$/.exec(line) ?? [];
        return text === undefined || id === undefined
          ? []
          : [{ text, file: `${material.librivox}/${id}.wav` }];
      });
      expect(spoken.length).toBe(5);
      const inputs = spoken.flatMap(({ file }) => ['-i', file]);
      // With the pauses that a reader makes between sentences.
      const graph = spoken.map((_, index) => `[${index}:a]apad=pad_dur=0.7[a${index}]`);
      const joined = `${graph.join(';')};${spoken.map((_, index) => `[a${index}]`).join('')}concat=n=5:v=0:a=1`;
      const media = makeMedia('book.flac', ...inputs, '-filter_complex', joined);
      const { result } = await transcribed(media);
      const errors = wordErrorRate(spoken.map(({ text }) => text).join(' '), result.concatenated_text);
      process.stdout.write(`WER of human voices: ${(errors * 100).toFixed(1)} %\n`);
      expect(errors).toBeLessThanOrEqual(0.27);
    },
    TIMEOUT_MS,
  );
});

describe('speech in a language that the model does not know', needs('speech', 'spanish'), () => {
  it(
    'is refused rather than written down as nonsense',
    async () => {
      const names = ['demo-congrats', 'demo-echotest', 'demo-abouttotry'];
      const files = names.map((name) =>
        makeMedia(`${name}.wav`, '-f', 'g722', '-i', `${material.spanish}/${name}.g722`),
      );
      const list = makeFile('list.txt', files.map((file) => `file '${file}'\n`).join(''));
      const media = makeMedia('spanish.mp3', '-f', 'concat', '-safe', '0', '-i', list);
      await expect(transcribed(media)).rejects.toThrow(
        "The language of the speech isn't one that the installed model knows (English)",
      );
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
