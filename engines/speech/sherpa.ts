import fs from 'node:fs/promises';
import sherpa from 'sherpa-onnx-node';
import type { LanguageWish, Phrase, Transcriber, Word } from '../interfaces.ts';
import { ENGLISH, type SpeechModel, type SpeechType } from '../models/manifest.ts';
import { readBytes, SAMPLE_RATE, samplesOf } from './recording.ts';

const FEATURES = 80;

/** sherpa-onnx's names of the model types in the manifest. */
const CONFIG_KEYS: Readonly<Record<SpeechType, string>> = {
  whisper: 'whisper',
  moonshine: 'moonshine',
  transducer: 'transducer',
  paraformer: 'paraformer',
  'sense-voice': 'senseVoice',
  'nemo-ctc': 'nemoCtc',
  'zipformer-ctc': 'zipformerCtc',
};

/** A model of the operator, run by sherpa-onnx. */
export function createSherpaTranscriber(model: SpeechModel): Transcriber {
  const codes = new Map(Object.entries(model.languages).map(([code, own]) => [own, code]));

  return {
    async transcribe(recording, phrases, wish, done) {
      const recognizer = new sherpa.OfflineRecognizer(recognizerConfig(model, wish));
      const file = await fs.open(recording.file);
      const words: Word[] = [];
      const heard = new Map<string, number>();
      try {
        for (const [index, phrase] of phrases.entries()) {
          const stream = recognizer.createStream();
          stream.acceptWaveform({
            samples: samplesOf(await readBytes(file, phrase)),
            sampleRate: SAMPLE_RATE,
          });
          const { text, lang = '' } = await recognizer.decodeAsync(stream);
          words.push(...spread(text, phrase));
          const language = codes.get(lang.replace(/^<\|(.*)\|>$/, '$1')) ?? wish.audio ?? onlyLanguage(model);
          if (language !== undefined && text.trim() !== '') heard.set(language, (heard.get(language) ?? 0) + 1);
          done((index + 1) / phrases.length);
        }
      } finally {
        await file.close();
      }
      return { words, languages: [...heard].sort(([, a], [, b]) => b - a).map(([code]) => code) };
    },
  };
}

export function recognizerConfig(model: SpeechModel, wish: LanguageWish): object {
  const { tokens, ...files } = model.files;
  const language = wish.audio === null ? '' : (model.languages[wish.audio] ?? '');
  const translates = wish.subtitles === ENGLISH && wish.audio !== null && wish.audio !== ENGLISH;
  const options: Partial<Record<SpeechType, object>> = {
    whisper: { language, task: translates ? 'translate' : 'transcribe' },
    'sense-voice': { language: language || 'auto', useInverseTextNormalization: 1 },
  };
  return {
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: FEATURES },
    modelConfig: {
      [CONFIG_KEYS[model.type]]: { ...files, ...options[model.type] },
      tokens,
      numThreads: model.threads ?? 1,
      provider: 'cpu',
      debug: 0,
    },
  };
}

function onlyLanguage(model: SpeechModel): string | undefined {
  const [first, ...others] = Object.keys(model.languages);
  return others.length === 0 ? first : undefined;
}

/** Not every model says when a word was spoken; then the time is estimated from the number of characters. */
export function spread(text: string, { from, to }: Phrase): Word[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const characters = words.reduce((sum, word) => sum + word.length, 0);
  const seconds = (to - from) / SAMPLE_RATE;
  let before = 0;
  return words.map((word) => {
    const startSeconds = from / SAMPLE_RATE + (before / characters) * seconds;
    before += word.length;
    const endSeconds = from / SAMPLE_RATE + (before / characters) * seconds;
    return { text: word, startSeconds, endSeconds, confidence: undefined };
  });
}
