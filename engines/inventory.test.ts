import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../test/support/engine-settings.ts';
import { newFile } from '../test/support/engines.ts';
import { capabilitiesOf, type Inventory, type SpeechEngine, speechEngineFor, takeInventory } from './inventory.ts';

const engine = (languages: string[], translations: [string, string][] = []): SpeechEngine => ({
  description: languages.join(),
  languages,
  translations,
  how: { kind: 'pocketsphinx', program: '', model: '' },
});
const withSpeech = (...found: SpeechEngine[]): Inventory => ({
  media: { found: { ffmpeg: '', ffprobe: '', description: '' } },
  speech: { found },
  pictures: {
    nsfw: { found: { description: '', how: { kind: 'nsfwjs' } } },
    hard_nudity: { missing: 'a model' },
    soft_nudity: { missing: 'a model' },
    sport: { missing: 'a package' },
  },
});

describe('an installation without programs', () => {
  it('can do nothing, and says what to do', async () => {
    const inventory = await takeInventory({ ...DEFAULT_SETTINGS, searchPath: '/nowhere' });
    expect(inventory.media.missing).toBe('the program ffmpeg isn\'t installed; run "npx tradewind engines install"');
    expect(inventory.speech.missing).toContain('pocketsphinx_batch');
    expect(capabilitiesOf(inventory)).toEqual({ categories: [] });
  });

  it('can look for nudity only with a model and its runtime', async () => {
    const without = await takeInventory(DEFAULT_SETTINGS);
    expect(without.pictures.hard_nudity.missing).toContain('TRADEWIND_MODEL_DIR');
    const modelDir = newFile('models');
    fs.mkdirSync(modelDir);
    fs.writeFileSync(path.join(modelDir, 'n.onnx'), '');
    const detector = {
      name: 'n',
      version: '1',
      format: 'yolov8',
      file: 'n.onnx',
      inputSize: 320,
      labels: ['A'],
    };
    const manifest = { detectors: [{ ...detector, categories: ['hard_nudity'] }] };
    fs.writeFileSync(path.join(modelDir, 'manifest.json'), JSON.stringify(manifest));
    const { pictures } = await takeInventory({ ...DEFAULT_SETTINGS, modelDir });
    expect(pictures.hard_nudity.missing).toContain('install onnxruntime-node beside the models');
    expect(pictures.soft_nudity.missing).toContain('NudeNet');
    // It is found beside the models once it is installed there.
    const runtime = path.join(modelDir, 'node_modules/onnxruntime-node');
    fs.mkdirSync(runtime, { recursive: true });
    fs.writeFileSync(
      path.join(runtime, 'package.json'),
      '{"name":"onnxruntime-node","version":"1.30.0","main":"i.js"}',
    );
    fs.writeFileSync(path.join(runtime, 'i.js'), '');
    const after = await takeInventory({ ...DEFAULT_SETTINGS, modelDir });
    expect(after.pictures.hard_nudity.found?.description).toBe('n 1 by onnxruntime 1.30.0');
  });
});

describe('the engine for a wish', () => {
  const english = engine(['eng']);
  const many = engine(['eng', 'ger'], [['ger', 'eng']]);
  it.each([
    ['English as heard', [english], null, null, 'eng'],
    ['English, written in English', [english], 'eng', 'eng', 'eng'],
    ['whatever it is, written in the only language there is', [english], null, 'eng', 'eng'],
    ['the second engine, for its language', [english, many], 'ger', null, 'eng,ger'],
    ['the one that translates', [english, many], 'ger', 'eng', 'eng,ger'],
  ])('%s', (_, engines, audio, subtitles, description) => {
    expect(speechEngineFor(withSpeech(...engines), { audio, subtitles }).found?.description).toBe(description);
  });

  it.each([
    [
      'an unknown language',
      [english],
      'ger',
      null,
      "Speech in the language ger can't be transcribed: the installed models know eng.",
    ],
    ['a translation', [many], 'eng', 'ger', "Subtitles in ger can't be made from speech in eng"],
    ['a translation of whatever it is', [many], null, 'ger', 'speech in a language yet to be detected'],
  ])('is none for %s', (_, engines, audio, subtitles, reason) => {
    expect(speechEngineFor(withSpeech(...engines), { audio, subtitles }).missing).toContain(reason);
  });
});

it('promises what is found', () => {
  expect(capabilitiesOf(withSpeech(engine(['eng', 'ger'], [['ger', 'eng']]), engine(['eng'])))).toEqual({
    transcription: { languages: ['eng', 'ger'], translations: [['ger', 'eng']] },
    categories: ['nsfw'],
  });
});
