/** What analyses are made of. */

/** A medium that can't be used; the message tells its owner why. */
export class UnusableMediaError extends Error {
  override readonly name = 'UnusableMediaError';
}

/** One picture, as a square. */
export interface Frame {
  /** Its number in the medium, at the medium's own rate. */
  number: number;
  /** Red, green, blue: 3 bytes for each pixel, row by row. */
  rgb: Uint8Array;
}

/** Sound as the engines want it: one channel, 16,000 samples a second, each 16 bits, little-endian. */
export interface Recording {
  file: string;
  samples: number;
}

/** The squares that a model wants. */
export interface FrameForm {
  /** Of a side, in pixels. */
  size: number;
  /** Whether pictures are distorted to the square, or keep their form and get black to the right or below. */
  fit: 'stretch' | 'pad';
}

export interface FramePlan extends FrameForm {
  intervalSeconds: number;
}

/** A stretch of speech in a recording, in samples. */
export interface Phrase {
  from: number;
  to: number;
}

export interface Word {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** From 0 to 1; undefined where the model says nothing about it. */
  confidence: number | undefined;
}

export interface Transcript {
  /** In the order of time. */
  words: Word[];
  /** Bibliographic codes, most frequent first. */
  languages: string[];
}

/** Bibliographic codes; null: as heard, as spoken. */
export interface LanguageWish {
  audio: string | null;
  subtitles: string | null;
}

export interface Transcriber {
  /** @param done told the share that is done. @throws UnusableMediaError */
  transcribe(
    recording: Recording,
    phrases: readonly Phrase[],
    wish: LanguageWish,
    done: (share: number) => void,
  ): Promise<Transcript>;
}

/** How likely a whole picture belongs to a category. */
export interface FrameModerator {
  readonly form: FrameForm;
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
  readonly form: FrameForm;
  detect(frame: Frame): Promise<Sighting[]>;
}
