import fs from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { type Phrase, type Recording, type Transcriber, UnusableMediaError, type Word } from '../interfaces.ts';
import type { Programs } from '../programs.ts';
import { readBytes, SAMPLE_RATE } from './recording.ts';

/** With fewer words, their mean confidence says too little. */
const WORDS_TO_JUDGE_BY = 20;

interface Options {
  programs: Programs;
  program: string;
  /** The folder of the model. */
  model: string;
  folder: string;
  minWordConfidence: number;
}

/**
 * Runs Debian's pocketsphinx with its American English model. One process handles all phrases, since loading
 * the model takes longer than a phrase.
 */
export function createPocketsphinx(options: Options): Transcriber {
  const { programs, program, model, folder, minWordConfidence } = options;
  const at = (name: string) => path.join(folder, name);

  return {
    async transcribe(recording, phrases, _wish, done) {
      await writePhrases(recording, phrases);
      const run = programs.start(program, [
        ...['-adcin', 'yes', '-adchdr', '0', '-samprate', String(SAMPLE_RATE), '-cmn', 'batch'],
        ...['-cepdir', at('phrases'), '-cepext', '.raw', '-ctl', at('phrases.txt')],
        ...['-hyp', at('texts.txt'), '-ctm', at('words.txt'), '-hmm', path.join(model, 'en-us')],
        ...['-lm', path.join(model, 'en-us.lm.bin'), '-dict', path.join(model, 'cmudict-en-us.dict')],
      ]);
      const total = phrases.reduce((sum, { from, to }) => sum + to - from, 0);
      let recognised = 0;
      run.onErrorLine((line) => {
        const index = /^INFO: batch\.c\(\d+\): (\d+): [\d.]+ seconds speech/.exec(line)?.[1];
        const phrase = index === undefined ? undefined : phrases[Number(index)];
        if (!phrase) return;
        recognised += phrase.to - phrase.from;
        done(recognised / total);
      });
      run.stdout.resume();
      await finished(run.stdout);
      const { ok, stopped } = await run.ended;
      if (stopped === 'time') throw new UnusableMediaError('The speech takes too long to recognise.');
      if (!ok) throw new Error(`${program} failed: ${run.complaint().slice(-500)}`);
      const words = parseWords(await fs.readFile(at('words.txt'), 'utf8'), phrases);
      expectKnownLanguage(words);
      return { words, languages: words.length > 0 ? ['eng'] : [] };
    },
  };

  async function writePhrases(recording: Recording, phrases: readonly Phrase[]): Promise<void> {
    await fs.mkdir(at('phrases'));
    const source = await fs.open(recording.file);
    try {
      for (const [index, phrase] of phrases.entries())
        await fs.writeFile(at(`phrases/${index}.raw`), await readBytes(source, phrase));
    } finally {
      await source.close();
    }
    await fs.writeFile(at('phrases.txt'), phrases.map((_, index) => `${index}\n`).join(''));
  }

  function expectKnownLanguage(words: readonly Word[]): void {
    if (words.length < WORDS_TO_JUDGE_BY) return;
    const mean = words.reduce((sum, { confidence = 1 }) => sum + confidence, 0) / words.length;
    if (mean >= minWordConfidence) return;
    throw new UnusableMediaError(
      `The language of the speech isn't one that the installed model knows (English): its words were recognised with a confidence of ${mean.toFixed(2)} on average, and at least ${minWordConfidence} is needed. Other languages need another model; ask the operator of this service.`,
    );
  }
}

/** Parses lines of `phrase channel start length word confidence`; the words include silence and noises. */
export function parseWords(text: string, phrases: readonly Phrase[]): Word[] {
  const words = text.split('\n').flatMap((line): Word[] => {
    const [index = '', , start, length, word = '', confidence] = line.trim().split(/\s+/);
    const phrase = phrases[Number(index)];
    if (!phrase || word === '' || /^(<|\[|\+\+)/.test(word)) return [];
    const startSeconds = phrase.from / SAMPLE_RATE + Number(start);
    return [
      {
        // Alternative pronunciations of a word are numbered: read(2).
        text: word.replace(/\(\d+\)$/, ''),
        startSeconds,
        endSeconds: startSeconds + Number(length),
        confidence: Math.min(1, Math.max(0, Number(confidence))),
      },
    ];
  });
  return words.sort((a, b) => a.startSeconds - b.startSeconds);
}
