/** The interfaces between the parts of an analysis. */

/** A medium can't be used; the message tells its owner why. */
export class UnusableMediaError extends Error {
  override readonly name = 'UnusableMediaError';
}

/** One picture, as a square. */
export interface Frame {
  /** The frame number in the medium, at the medium's own rate. */
  number: number;
  /** Red, green, blue: 3 bytes for each pixel, row by row. */
  rgb: Uint8Array;
}

/** Sound in the engines' format: one channel, 16,000 samples a second of 16 bits each, little-endian. */
export interface Recording {
  file: string;
  samples: number;
}

/** The squares that a model takes as input. */
export interface FrameForm {
  /** Side length in pixels. */
  size: number;
  /**
   * Whether pictures are stretched to the square, or keep their proportions and get black borders at the
   * right or bottom.
   */
  fit: 'stretch' | 'pad';
}

export interface FramePlan extends FrameForm {
  intervalSeconds: number;
}

/** A section of a recording with speech, in samples. */
export interface Phrase {
  from: number;
  to: number;
}

export interface Word {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** From 0 to 1; undefined if the model does not tell. */
  confidence: number | undefined;
}

export interface Transcript {
  /** In chronological order. */
  words: Word[];
  /** Bibliographic codes, most frequent first. */
  languages: string[];
}

/** Bibliographic codes; null means: detect the language, or write the spoken one. */
export interface LanguageWish {
  audio: string | null;
  subtitles: string | null;
}

export interface Transcriber {
  /** @param done receives the share that is done. @throws UnusableMediaError */
  transcribe(
    recording: Recording,
    phrases: readonly Phrase[],
    wish: LanguageWish,
    done: (share: number) => void,
  ): Promise<Transcript>;
}

/** Tells how likely a whole picture belongs to a category. */
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

/** Tells what is visible in a picture. */
export interface ObjectDetector {
  readonly form: FrameForm;
  detect(frame: Frame): Promise<Sighting[]>;
}
