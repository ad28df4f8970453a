import { expect, it } from 'vitest';
import { parseWords } from './pocketsphinx.ts';

it('reads words with their times in the recording, without silence and noises', () => {
  const phrases = [
    { from: 0, to: 16_000 },
    { from: 32_000, to: 64_000 },
  ];
  const text = [
    '1 1 0.50 0.25 read(2) 0.7',
    '0 1 0.00 0.10 <s> 1.0',
    '0 1 0.10 0.40 hello 1.2',
    '0 1 0.50 0.20 [SPEECH] 0.9',
    '1 1 0.75 0.10 ++NOISE++ 0.9',
    '7 1 0.00 0.10 nowhere 0.9',
    '',
  ].join('\n');
  expect(parseWords(text, phrases)).toEqual([
    { text: 'hello', startSeconds: 0.1, endSeconds: 0.5, confidence: 1 },
    { text: 'read', startSeconds: 2.5, endSeconds: 2.75, confidence: 0.7 },
  ]);
});
