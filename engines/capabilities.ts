import type { Category } from './job.ts';

/** What the engines of a process can do; the API answers according to it. */
export interface AiCapabilities {
  /** Undefined if speech can't be recognised. Languages are bibliographic codes. */
  transcription?: {
    languages: readonly string[];
    /** Pairs of a speech language and another language for the subtitles. */
    translations: readonly (readonly [string, string])[];
  };
  categories: readonly Category[];
}

/** Kinds of work for a worker: `transcription`, and moderation by its category. */
export type WorkKind = 'transcription' | Category;

/**
 * What every installation should be able to do, so that its tasks wait for an engine. Tasks that need the
 * operator's own model might wait forever, so they are refused while no engine can do them.
 */
export const ALWAYS_ACCEPTED: readonly WorkKind[] = ['transcription', 'nsfw'];

export function workKinds({ transcription, categories }: AiCapabilities): WorkKind[] {
  return [...(transcription ? (['transcription'] as const) : []), ...categories];
}

/** Whether speech of one language can become subtitles in the same or another one. */
export function transcribes({ transcription }: AiCapabilities, audio: string, subtitles: string): boolean {
  if (!transcription) return false;
  if (audio === subtitles) return transcription.languages.includes(audio);
  return transcription.translations.some(([from, to]) => from === audio && to === subtitles);
}
