import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { makeFile, makeMedia, material, newFile } from './engines.ts';

const SAMPLE_RATE = 16_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** A reader's pause between sentences. */
const PAUSE_SECONDS = 0.7;

export interface Spoken {
  text: string;
  /** ffmpeg's arguments to read it. */
  input: string[];
}

export function flite(text: string): string {
  const file = newFile('flite.wav');
  execFileSync('flite', ['-voice', 'slt', '-t', text, '-o', file]);
  return file;
}

/** Five sentences of a novel, read for LibriVox: pocketsphinx-testdata. */
export function librivoxSentences(): Spoken[] {
  const lines = fs.readFileSync(`${material.librivox}/transcription`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, text, id] = /^<s> (.*) <\/s> \((.*)\)$/.exec(line) ?? [];
    if (text === undefined || id === undefined) return [];
    return [{ text, input: ['-i', `${material.librivox}/${id}.wav`] }];
  });
}

/**
 * The prompts of a telephone exchange: all with ten words or more whose script is exactly what is read, which
 * excludes those with digits, abbreviations, addresses and notes in brackets.
 */
export function telephonePrompts(): Spoken[] {
  const script = gunzipSync(fs.readFileSync(material.promptScript)).toString('utf8');
  return script.split('\n').flatMap((line) => {
    const [, name, text] = /^([^:;]+): *(.*)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) return [];
    if (/[\d[(<*]|[A-Z]{2}|www/.test(text) || text.split(/\s+/).length < 10) return [];
    const file = `${material.prompts}/${name}.g722`;
    return fs.existsSync(file) ? [{ text, input: ['-f', 'g722', '-i', file] }] : [];
  });
}

/** Joins all recordings into one, and returns when each is heard in it. */
export function joined(all: Spoken[]): { media: string; spans: { from: number; to: number }[] } {
  const pause = Buffer.alloc(PAUSE_SECONDS * BYTES_PER_SECOND);
  const spans: { from: number; to: number }[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  for (const { input } of all) {
    const sound = execFileSync(
      'ffmpeg',
      ['-nostdin', '-v', 'error', ...input, '-ar', String(SAMPLE_RATE), '-ac', '1', '-f', 's16le', '-'],
      { maxBuffer: 100 * BYTES_PER_SECOND },
    );
    parts.push(sound, pause);
    spans.push({ from: at / BYTES_PER_SECOND, to: (at + sound.length) / BYTES_PER_SECOND });
    at += sound.length + pause.length;
  }
  const raw = makeFile('joined.raw', Buffer.concat(parts));
  const form = ['-f', 's16le', '-ar', String(SAMPLE_RATE), '-ac', '1'];
  return { media: makeMedia('joined.flac', ...form, '-i', raw), spans };
}
