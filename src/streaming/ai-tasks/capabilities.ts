import type { TaskData } from './task-data.ts';

type Category = NonNullable<TaskData['category']>;

/** What the engines of a process can do; the API answers from it instead of promising. */
export interface AiCapabilities {
  /** Undefined where speech can't be recognised at all. Languages are bibliographic codes. */
  transcription?: {
    languages: readonly string[];
    /** Pairs of speech and subtitles in another language. */
    translations: readonly (readonly [string, string])[];
  };
  categories: readonly Category[];
}

/** What a worker takes: `transcription`, and moderation by its category. */
export type WorkKind = 'transcription' | Category;

/**
 * What every installation is meant to do, so that its tasks wait for an engine. What needs a model of the operator's own
 * might wait for ever, so it is refused while nobody can do it.
 */
export const ALWAYS_ACCEPTED: readonly WorkKind[] = ['transcription', 'nsfw'];

export function workKinds({ transcription, categories }: AiCapabilities): WorkKind[] {
  return [...(transcription ? (['transcription'] as const) : []), ...categories];
}

/** Whether speech of one language can become subtitles of the same or another one. */
export function transcribes({ transcription }: AiCapabilities, audio: string, subtitles: string): boolean {
  if (!transcription) return false;
  if (audio === subtitles) return transcription.languages.includes(audio);
  return transcription.translations.some(([from, to]) => from === audio && to === subtitles);
}
