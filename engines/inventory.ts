import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { AiCapabilities } from './capabilities.ts';
import { findOnnxRuntime, ONNX_RUNTIME_HELP } from './frames/onnx-runtime.ts';
import type { LanguageWish } from './interfaces.ts';
import { CATEGORIES, type Category } from './job.ts';
import { type Detector, type Models, readModels, type SpeechModel, translationsOf } from './models/manifest.ts';
import { MODEL_PACKAGES, packageVersion } from './packages.ts';
import { findProgram } from './programs.ts';
import type { EngineSettings } from './settings.ts';

const run = promisify(execFile);

/** An installed engine, or how to install it. */
export type Part<T> = { found: T; missing?: never } | { found?: never; missing: string };

export interface SpeechEngine {
  /** A text for people. */
  description: string;
  languages: readonly string[];
  translations: readonly (readonly [string, string])[];
  how: { kind: 'pocketsphinx'; program: string; model: string } | { kind: 'sherpa'; model: SpeechModel };
}

export interface PictureEngine {
  /** A text for people. */
  description: string;
  how: { kind: 'nsfwjs' | 'centernet' } | { kind: 'detector'; model: Detector; runtimeFile: string };
}

/** Which engines are installed. Taking the inventory loads no model. */
export interface Inventory {
  media: Part<{ ffmpeg: string; ffprobe: string; description: string }>;
  /** The best first. */
  speech: Part<readonly SpeechEngine[]>;
  pictures: Readonly<Record<Category, Part<PictureEngine>>>;
}

const INSTALL = 'run "npx tradewind engines install"';
const NO_NUDITY_MODEL =
  'no model for it can come with Tradewind; put NudeNet (an ONNX file) into a folder with a manifest.json and set TRADEWIND_MODEL_DIR (docs/ai.md)';

/** @throws SettingError for an unusable model folder */
export async function takeInventory(settings: EngineSettings): Promise<Inventory> {
  const models: Models = settings.modelDir === null ? { speech: [], detectors: [] } : readModels(settings.modelDir);
  const [media, speech] = await Promise.all([findMedia(settings), findSpeech(settings, models)]);
  const picture = (category: Category) => findPictures(category, settings, models);
  return {
    media,
    speech,
    pictures: {
      nsfw: picture('nsfw'),
      hard_nudity: picture('hard_nudity'),
      soft_nudity: picture('soft_nudity'),
      sport: picture('sport'),
    },
  };
}

/** Returns what the API may offer. Without ffmpeg nothing can be read, so nothing is offered. */
export function capabilitiesOf({ media, speech, pictures }: Inventory): AiCapabilities {
  if (!media.found) return { categories: [] };
  return {
    ...(speech.found && {
      transcription: {
        languages: [...new Set(speech.found.flatMap(({ languages }) => languages))],
        translations: speech.found.flatMap(({ translations }) => translations),
      },
    }),
    categories: CATEGORIES.filter((category) => pictures[category].found),
  };
}

/** Returns the first engine that can do what is requested, or why there is none. */
export function speechEngineFor({ speech }: Inventory, { audio, subtitles }: LanguageWish): Part<SpeechEngine> {
  if (!speech.found) return { missing: `Speech can't be transcribed here: ${speech.missing}` };
  const hearing = speech.found.filter(({ languages }) => audio === null || languages.includes(audio));
  const known = [...new Set(speech.found.flatMap(({ languages }) => languages))].join(', ');
  if (hearing.length === 0)
    return {
      missing: `Speech in the language ${audio} can't be transcribed: the installed models know ${known}.`,
    };
  const writes = hearing.find(
    ({ languages, translations }) =>
      subtitles === null ||
      subtitles === audio ||
      // Speech of unknown language is written in the only language that the model knows.
      (audio === null && languages.length === 1 && languages[0] === subtitles) ||
      (audio !== null && translations.some(([from, to]) => from === audio && to === subtitles)),
  );
  return writes
    ? { found: writes }
    : {
        missing: `Subtitles in ${subtitles} can't be made from speech in ${audio ?? 'a language yet to be detected'}: the installed models don't translate that. Ask for subtitles in the language that is spoken.`,
      };
}

async function findMedia(settings: EngineSettings): Promise<Inventory['media']> {
  const ffmpeg = findProgram(settings.ffmpeg, settings.searchPath);
  const ffprobe = findProgram(settings.ffprobe, settings.searchPath);
  if (ffmpeg === undefined || ffprobe === undefined) {
    const name = ffmpeg === undefined ? settings.ffmpeg : settings.ffprobe;
    return { missing: `the program ${name} isn't installed; ${INSTALL}` };
  }
  const said = await output(ffmpeg, ['-version']);
  const version = /^ffmpeg version (\S+)/.exec(said)?.[1];
  if (version === undefined) return { missing: `${ffmpeg} doesn't work; ${INSTALL}` };
  return { found: { ffmpeg, ffprobe, description: `ffmpeg ${version}` } };
}

async function findSpeech(settings: EngineSettings, models: Models): Promise<Inventory['speech']> {
  const sherpa = packageVersion('sherpa-onnx-node');
  if (sherpa === undefined || packageVersion(MODEL_PACKAGES.voice) === undefined)
    return { missing: `packages are missing that find speech; ${INSTALL}` };
  const own = models.speech.map(
    (model): SpeechEngine => ({
      description: `${model.name} ${model.version} (${Object.keys(model.languages).join(', ')}) by sherpa-onnx ${sherpa}`,
      languages: Object.keys(model.languages),
      translations: translationsOf(model),
      how: { kind: 'sherpa', model },
    }),
  );
  const pocketsphinx = await findPocketsphinx(settings);
  const all = pocketsphinx.found ? [...own, pocketsphinx.found] : own;
  return all.length > 0 ? { found: all } : { missing: pocketsphinx.missing ?? '' };
}

async function findPocketsphinx(settings: EngineSettings): Promise<Part<SpeechEngine>> {
  const program = findProgram(settings.pocketsphinx, settings.searchPath);
  if (program === undefined) return { missing: `the program ${settings.pocketsphinx} isn't installed; ${INSTALL}` };
  const model = settings.pocketsphinxModel;
  if (!fs.existsSync(path.join(model, 'en-us.lm.bin')))
    return { missing: `pocketsphinx has no English model in ${model}; ${INSTALL}` };
  // The program doesn't print its version.
  const packaged = await output('dpkg-query', ['-W', 'pocketsphinx'], settings.searchPath);
  const version = packaged.trim().split('\t')[1] ?? 'of unknown version';
  return {
    found: {
      description: `pocketsphinx ${version} (eng)`,
      languages: ['eng'],
      translations: [],
      how: { kind: 'pocketsphinx', program, model },
    },
  };
}

function findPictures(category: Category, settings: EngineSettings, models: Models): Part<PictureEngine> {
  const detector = models.detectors.find(({ categories }) => categories.some((one) => one === category));
  if (detector && settings.modelDir !== null) {
    const runtime = findOnnxRuntime(settings.modelDir);
    if (!runtime) return { missing: `${detector.name} can't be run; ${ONNX_RUNTIME_HELP}` };
    return {
      found: {
        description: `${detector.name} ${detector.version} by onnxruntime ${runtime.version}`,
        how: { kind: 'detector', model: detector, runtimeFile: runtime.file },
      },
    };
  }
  if (category === 'hard_nudity' || category === 'soft_nudity') return { missing: NO_NUDITY_MODEL };
  const kind = category === 'nsfw' ? 'nsfwjs' : 'centernet';
  const version = packageVersion(category === 'nsfw' ? MODEL_PACKAGES.nsfw : MODEL_PACKAGES.objects);
  const tensors = packageVersion('@tensorflow/tfjs-backend-wasm');
  if (version === undefined || tensors === undefined) return { missing: `its packages are missing; ${INSTALL}` };
  const name = kind === 'nsfwjs' ? 'nsfwjs' : 'CenterNet of human';
  return { found: { description: `${name} ${version} by TensorFlow.js ${tensors}`, how: { kind } } };
}

async function output(program: string, args: readonly string[], searchPath = ''): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], {
      timeout: 10_000,
      env: { PATH: searchPath, LC_ALL: 'C' },
    });
    return stdout;
  } catch {
    return '';
  }
}
