import type { Category } from './job.ts';

/** What analyses are made of. An engine says what it can do; nobody promises more. */

interface Model {
  name: string;
  version: string;
}

interface Capabilities {
  /** The program or library that does the work. */
  engine: string;
  version: string;
  models: Model[];
}

/** A medium that can't be used; the message tells its owner why. */
export class UnusableMediaError extends Error {
  override readonly name = 'UnusableMediaError';
}

/** What an inspection finds out about a medium that is fit for use. */
export interface MediaFacts {
  format: string;
  kind: 'picture' | 'audio' | 'video';
  /** A picture counts as one second. */
  durationSeconds: number;
  hasAudio: boolean;
  picture: { width: number; height: number; framesPerSecond: number } | undefined;
}

/** One picture, scaled to a square. */
export interface Frame {
  /** Its number in the medium, at the medium's own rate. */
  number: number;
  /** Red, green, blue: 3 bytes for each pixel, row by row. */
  rgb: Uint8Array;
}

export interface MediaTools {
  capabilities(): Capabilities & { formats: readonly string[] };
  /** @throws UnusableMediaError */
  inspect(media: string): Promise<MediaFacts>;
  /** The first audio track: samples from -1 to 1, 16,000 a second. @throws UnusableMediaError */
  samples(media: string): AsyncIterable<Float32Array>;
  /** Pictures at even distances, as squares of `size` pixels. @throws UnusableMediaError */
  frames(media: string, facts: MediaFacts, plan: FramePlan): AsyncIterable<Frame>;
}

export interface FramePlan {
  size: number;
  intervalSeconds: number;
}

/** Speech with its place in the medium. */
export interface Phrase {
  startSeconds: number;
  samples: Float32Array;
}

export interface Word {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** From 0 to 1; undefined where the model says nothing about it. */
  confidence: number | undefined;
}

export interface Transcript {
  words: Word[];
  /** Bibliographic code; undefined where the engine can't tell. */
  language: string | undefined;
}

export interface Transcriber {
  capabilities(): Capabilities & {
    /** Bibliographic codes of the languages that it hears. */
    languages: readonly string[];
    /** Pairs of speech and subtitles in another language. */
    translations: readonly (readonly [string, string])[];
  };
  /** @param done told the share of the work that is done, 0 to 1 */
  transcribe(
    phrases: readonly Phrase[],
    language: string | null,
    done: (share: number) => void,
  ): Promise<Transcript>;
}

/** How likely a whole picture belongs to a category. */
export interface FrameModerator {
  capabilities(): Capabilities & { categories: readonly Category[] };
  /** The side of the squares that it wants. */
  readonly frameSize: number;
  /** 0 to 1 */
  confidence(frame: Frame): Promise<number>;
}

export interface Sighting {
  label: string;
  /** 0 to 1 */
  confidence: number;
}

/** What is seen in a picture. */
export interface ObjectDetector {
  capabilities(): Capabilities & { categories: readonly Category[]; labels: readonly string[] };
  readonly frameSize: number;
  detect(frame: Frame): Promise<Sighting[]>;
}
