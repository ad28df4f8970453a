import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AnalysisResult, STOP_LABELS } from './results.ts';
import { EngineSettings } from './settings.ts';

/**
 * The protocol between the server and the child process that analyses one local media file: lines of JSON.
 * The server writes one `AnalysisOrder` to the child's standard input, which stays open as long as the server
 * lives. The child writes messages to file descriptor `MESSAGES`, of which the last is `result`, `failed` or
 * `fault`, and exits. Both sides check what they receive. This is not the channel of node:child_process: what
 * a child writes there can crash its parent.
 */

/** The child's file descriptor. Standard output is left to libraries that print. */
export const MESSAGES = 3;

const closed = { additionalProperties: false } as const;

export const CATEGORIES = ['nsfw', 'hard_nudity', 'soft_nudity', 'sport'] as const;
export type Category = (typeof CATEGORIES)[number];

/** The limits of an analysis. They are upper bounds, not promises. */
const AnalysisLimits = Type.Object(
  {
    /** Longest medium that is accepted. */
    durationSeconds: Type.Integer({ minimum: 1 }),
    /** Pictures that are classified, spread over the whole medium. */
    frames: Type.Integer({ minimum: 1, maximum: 100_000 }),
    /** For the whole analysis, in elapsed time. */
    wallSeconds: Type.Integer({ minimum: 1 }),
    /** Processor time of each program that is started. */
    cpuSeconds: Type.Integer({ minimum: 1 }),
    /** Address space of each program that is started. */
    memoryBytes: Type.Integer({ minimum: 2 ** 20 }),
    /** Total size of the files that may be written. */
    writtenBytes: Type.Integer({ minimum: 2 ** 20 }),
  },
  closed,
);
export type AnalysisLimits = Static<typeof AnalysisLimits>;

export const DEFAULT_LIMITS: AnalysisLimits = {
  durationSeconds: 2 * 3_600,
  frames: 600,
  wallSeconds: 2 * 3_600,
  cpuSeconds: 2 * 3_600,
  memoryBytes: 2_000_000_000,
  // Two hours of sound at 32,000 bytes a second, once whole and once in phrases, and the transcribed words.
  writtenBytes: 500_000_000,
};

const shared = {
  /** The absolute path of the medium, which is read but never changed. */
  media: Type.String({ pattern: '^/' }),
  /** The absolute path of this job's own folder; the sender of the job removes it afterwards. */
  folder: Type.String({ pattern: '^/' }),
  limits: AnalysisLimits,
};

/** Either code of ISO 639-2; null means: detect the language, or write the spoken one. */
const Language = Type.Union([Type.String({ pattern: '^[a-z]{3}$' }), Type.Null()]);

const TranscriptionJob = Type.Object(
  { kind: Type.Literal('transcription'), audioLanguage: Language, subtitlesLanguage: Language, ...shared },
  closed,
);
export type TranscriptionJob = Static<typeof TranscriptionJob>;

const StopObject = Type.Object(
  {
    label: Type.Enum([...STOP_LABELS]),
    /** The minimum confidence for a sighting to count; by default any sighting counts. */
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  closed,
);

const ModerationJob = Type.Object(
  {
    kind: Type.Literal('content-moderation'),
    category: Type.Enum([...CATEGORIES]),
    /** The first sighting of one of these ends the analysis; only for hard_nudity and soft_nudity. */
    stopObjects: Type.Array(StopObject, { maxItems: STOP_LABELS.length }),
    ...shared,
  },
  closed,
);
export type ModerationJob = Static<typeof ModerationJob>;

const AnalysisJob = Type.Union([TranscriptionJob, ModerationJob]);
export type AnalysisJob = Static<typeof AnalysisJob>;

/** What the child is told, once. Includes the settings, because the child's environment is empty. */
const AnalysisOrder = Type.Object({ job: AnalysisJob, settings: EngineSettings }, closed);
export type AnalysisOrder = Static<typeof AnalysisOrder>;

/** What the child is doing. Unfinished stages of one task may wait for each other. */
export const STAGES = ['inspection', 'decoding', 'recognition', 'classification'] as const;
export type Stage = (typeof STAGES)[number];

const Reason = Type.String({ minLength: 1, maxLength: 2_000 });

const AnalysisMessage = Type.Union([
  Type.Object({ type: Type.Literal('stage'), name: Type.Enum([...STAGES]) }, closed),
  /** Sent once, after the inspection: the server derives the time limit of the analysis from the duration. */
  Type.Object(
    {
      type: Type.Literal('facts'),
      durationSeconds: Type.Number({ minimum: 0 }),
      /** The rate at which frames are numbered; left out for sound. */
      framesPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    },
    closed,
  ),
  /** Progress of the whole analysis; sent at most twice a second, never goes backwards. */
  Type.Object({ type: Type.Literal('progress'), percent: Type.Integer({ minimum: 0, maximum: 100 }) }, closed),
  Type.Object({ type: Type.Literal('result'), result: AnalysisResult }, closed),
  /** The medium or the requested analysis is not supported: the task ends in FAILURE with this text for people. */
  Type.Object({ type: Type.Literal('failed'), reason: Reason }, closed),
  /** An internal error: the analysis may be retried. The text is only for the log. */
  Type.Object({ type: Type.Literal('fault'), message: Reason }, closed),
]);
export type AnalysisMessage = Static<typeof AnalysisMessage>;

/** @throws Error saying what is wrong with the order */
export function readOrder(value: unknown): AnalysisOrder {
  if (Value.Check(AnalysisOrder, value)) return value;
  throw new Error(`Not an order for an analysis: ${firstError(Value.Errors(AnalysisOrder, value))}`);
}

/** @throws Error saying what is wrong with the message */
export function readMessage(value: unknown): AnalysisMessage {
  if (!Value.Check(AnalysisMessage, value))
    throw new Error(`Not a message of an analysis: ${firstError(Value.Errors(AnalysisMessage, value))}`);
  if (!isStorable(value)) throw new Error('A message of an analysis has text that the database cannot store');
  return value;
}

/** NUL and half a surrogate pair would fail the transaction that ends the task, at every retry. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  return typeof value !== 'object' || value === null || Object.values(value).every(isStorable);
}

function firstError(errors: readonly { instancePath: string; message: string }[]): string {
  const [first] = errors;
  return first ? `${first.instancePath} ${first.message}` : 'unknown form';
}
