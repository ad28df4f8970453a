import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFile, newFile } from '../../test/support/engines.ts';
import { readModels, translationsOf } from './manifest.ts';

const WHISPER = {
  name: 'whisper-small',
  version: '1',
  type: 'whisper',
  languages: { eng: 'en', deu: 'de' },
  translatesToEnglish: true,
  files: { encoder: 'encoder.onnx', decoder: 'decoder.onnx', tokens: 'tokens.txt' },
};
const NUDENET = {
  name: 'nudenet',
  version: '3.4',
  format: 'yolov8',
  file: 'nudenet.onnx',
  inputSize: 320,
  labels: ['FACE_MALE'],
  categories: ['hard_nudity', 'soft_nudity'],
};

/** Makes a folder with a manifest and all files that models may name. */
function folderWith(manifest: unknown): string {
  const folder = newFile('models');
  fs.mkdirSync(folder);
  for (const name of ['encoder.onnx', 'decoder.onnx', 'tokens.txt', 'nudenet.onnx'])
    fs.writeFileSync(path.join(folder, name), '');
  fs.writeFileSync(
    path.join(folder, 'manifest.json'),
    typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
  );
  return folder;
}

describe('a folder of models', () => {
  it('is read, with absolute paths and one code for each language', () => {
    const folder = folderWith({ speech: [WHISPER], detectors: [NUDENET] });
    const { speech, detectors } = readModels(folder);
    expect(speech[0]?.languages).toEqual({ eng: 'en', ger: 'de' });
    expect(speech[0]?.files.encoder).toBe(path.join(folder, 'encoder.onnx'));
    expect(detectors[0]?.file).toBe(path.join(folder, 'nudenet.onnx'));
    expect(speech.flatMap(translationsOf)).toEqual([['ger', 'eng']]);
  });

  it.each([
    ['broken JSON', '{', "can't be read"],
    ['an unknown field', { models: [] }, 'is not usable'],
    ['an unknown type', { speech: [{ ...WHISPER, type: 'vosk' }] }, '/speech/0/type'],
    ['no languages', { speech: [{ ...WHISPER, languages: {} }] }, '/speech/0/languages'],
    [
      'a language that is none',
      { speech: [{ ...WHISPER, languages: { xxx: 'x' } }] },
      'names xxx, which is not a language',
    ],
    ['a file too few', { speech: [{ ...WHISPER, files: { tokens: 'tokens.txt' } }] }, 'lacks the file encoder'],
    [
      'a file of another type',
      { speech: [{ ...WHISPER, files: { ...WHISPER.files, joiner: 'tokens.txt' } }] },
      'names the file joiner; a whisper model has encoder, decoder, tokens',
    ],
    [
      'a file that is not there',
      { detectors: [{ ...NUDENET, file: 'other.onnx' }] },
      "the model nudenet names other.onnx, which isn't in",
    ],
    ['a file elsewhere', { detectors: [{ ...NUDENET, file: '../secret' }] }, 'which is outside of the folder'],
    ['a classifier of nsfw', { detectors: [{ ...NUDENET, categories: ['nsfw'] }] }, '/detectors/0/categories/0'],
  ])('with %s is refused', (_, manifest, reason) => {
    const read = () => readModels(folderWith(manifest));
    expect(read).toThrow('TRADEWIND_MODEL_DIR is not usable');
    expect(read).toThrow(reason);
  });

  it('that has no manifest is refused', () => {
    expect(() => readModels(path.dirname(makeFile('x', '')))).toThrow(/manifest\.json can't be read/);
  });
});
