import fs from 'node:fs';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { SettingError } from '../../src/lib/errors.ts';
import { CATEGORIES } from '../job.ts';
import { languageOf } from '../languages.ts';

/** The operator's own models: a folder with model files and a manifest.json that describes them. */

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 100 });
const FileName = Type.String({ minLength: 1, maxLength: 255, pattern: '^[^/][^\\0]*$' });

/** The files that each type of speech model of sherpa-onnx consists of. */
export const SPEECH_FILES = {
  whisper: ['encoder', 'decoder', 'tokens'],
  moonshine: ['preprocessor', 'encoder', 'uncachedDecoder', 'cachedDecoder', 'tokens'],
  /** Zipformer, Parakeet and other transducers. */
  transducer: ['encoder', 'decoder', 'joiner', 'tokens'],
  paraformer: ['model', 'tokens'],
  'sense-voice': ['model', 'tokens'],
  'nemo-ctc': ['model', 'tokens'],
  'zipformer-ctc': ['model', 'tokens'],
} as const;
export type SpeechType = keyof typeof SPEECH_FILES;

const SpeechModel = Type.Object(
  {
    name: Name,
    version: Name,
    type: Type.Enum(Object.keys(SPEECH_FILES) as SpeechType[]),
    /** Maps ISO 639-2 codes to the model's own names of languages. */
    languages: Type.Record(Type.String({ pattern: '^[a-z]{3}$' }), Type.String({ maxLength: 20 }), {
      minProperties: 1,
    }),
    /** Whether the model can translate speech to English. Only whisper models can. */
    translatesToEnglish: Type.Optional(Type.Boolean()),
    files: Type.Record(Type.String(), FileName),
    threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  },
  closed,
);
export type SpeechModel = Static<typeof SpeechModel>;

const Detector = Type.Object(
  {
    name: Name,
    version: Name,
    /** One output with 4 + labels rows: centre, size and a score for each label. */
    format: Type.Literal('yolov8'),
    file: FileName,
    inputSize: Type.Integer({ minimum: 32, maximum: 2_048, multipleOf: 32 }),
    /** In the order of the model's scores. */
    labels: Type.Array(Name, { minItems: 1, maxItems: 1_000 }),
    categories: Type.Array(Type.Enum(CATEGORIES.filter((category) => category !== 'nsfw')), { minItems: 1 }),
  },
  closed,
);
export type Detector = Static<typeof Detector>;

const Manifest = Type.Object(
  {
    speech: Type.Optional(Type.Array(SpeechModel, { maxItems: 10 })),
    detectors: Type.Optional(Type.Array(Detector, { maxItems: 10 })),
  },
  closed,
);

/** The manifest with absolute paths and bibliographic language codes. */
export interface Models {
  speech: readonly SpeechModel[];
  detectors: readonly Detector[];
}

export const ENGLISH = 'eng';
const MANIFEST = 'manifest.json';

/** @throws SettingError saying what is wrong in which file */
export function readModels(folder: string): Models {
  const manifest = parse(path.join(folder, MANIFEST));
  return {
    speech: (manifest.speech ?? []).map((model) => ({
      ...model,
      languages: Object.fromEntries(
        Object.entries(model.languages).map(([code, name]) => [languageIn(model, code), name]),
      ),
      files: filesOf(folder, model),
    })),
    detectors: (manifest.detectors ?? []).map((detector) => ({
      ...detector,
      file: existing(folder, detector.file, detector.name),
    })),
  };
}

function parse(file: string): Static<typeof Manifest> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw refused(`${file} can't be read: ${(error as Error).message}`);
  }
  if (Value.Check(Manifest, manifest)) return manifest;
  const [first] = Value.Errors(Manifest, manifest);
  throw refused(`${file} is not usable: ${first?.instancePath || 'it'} ${first?.message ?? ''}`);
}

function filesOf(folder: string, { name, type, files }: SpeechModel): Record<string, string> {
  const wanted: readonly string[] = SPEECH_FILES[type];
  const unknown = Object.keys(files).find((key) => !wanted.includes(key));
  if (unknown !== undefined)
    throw refused(`the model ${name} names the file ${unknown}; a ${type} model has ${wanted.join(', ')}`);
  return Object.fromEntries(
    wanted.map((key) => {
      const file = files[key];
      if (file === undefined) throw refused(`the model ${name} of type ${type} lacks the file ${key}`);
      return [key, existing(folder, file, name)];
    }),
  );
}

function existing(folder: string, file: string, model: string): string {
  const absolute = path.resolve(folder, file);
  if (!absolute.startsWith(`${path.resolve(folder)}${path.sep}`))
    throw refused(`the model ${model} names ${file}, which is outside of the folder`);
  if (!fs.existsSync(absolute)) throw refused(`the model ${model} names ${file}, which isn't in ${folder}`);
  return absolute;
}

function languageIn(model: SpeechModel, code: string): string {
  const language = languageOf(code);
  if (language === undefined) throw refused(`the model ${model.name} names ${code}, which is not a language`);
  return language;
}

/** Returns pairs of speech and subtitles: whisper models write English, whatever they hear. */
export function translationsOf(model: SpeechModel): [string, string][] {
  if (model.type !== 'whisper' || !model.translatesToEnglish) return [];
  return Object.keys(model.languages)
    .filter((code) => code !== ENGLISH)
    .map((code) => [code, ENGLISH]);
}

function refused(reason: string): SettingError {
  return new SettingError(`TRADEWIND_MODEL_DIR is not usable: ${reason}`);
}
