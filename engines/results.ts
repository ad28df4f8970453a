import { type Static, Type } from 'typebox';
import { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from './nudity-labels.ts';

/** The results of analyses: exactly the objects that the API shows as `result`. */

const closed = { additionalProperties: false } as const;
const MAX_FRAMES = 100_000;
const MAX_PHRASES = 100_000;

/** HH:mm:ss.fff */
const SubtitleTime = Type.String({ pattern: '^\\d{2,}:[0-5]\\d:[0-5]\\d\\.\\d{3}$' });

export const TranscriptionResult = Type.Object(
  {
    speech_detected: Type.Boolean(),
    concatenated_text: Type.String(),
    subtitles: Type.Array(
      Type.Object({ start_time: SubtitleTime, end_time: SubtitleTime, text: Type.String({ minLength: 1 }) }, closed),
      { maxItems: MAX_PHRASES },
    ),
    vttContent: Type.String(),
    languages: Type.Array(Type.String({ pattern: '^[a-z]{3}$' }), { maxItems: 5 }),
  },
  closed,
);
export type TranscriptionResult = Static<typeof TranscriptionResult>;

const FrameFinding = Type.Object(
  {
    label: Type.String({ minLength: 1 }),
    /** Numbered at the video's own rate, from 0. */
    frame_number: Type.Integer({ minimum: 0 }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  },
  closed,
);
export type FrameFinding = Static<typeof FrameFinding>;

const found = {
  detection_results: Type.Array(Type.String(), { maxItems: 100 }),
  frames: Type.Array(FrameFinding, { maxItems: MAX_FRAMES }),
};

export const NsfwResult = Type.Object({ nsfw_detected: Type.Boolean(), ...found }, closed);
export type NsfwResult = Static<typeof NsfwResult>;

export const NudityResult = Type.Object({ nudity_detected: Type.Boolean(), ...found }, closed);
export type NudityResult = Static<typeof NudityResult>;

export const SportResult = Type.Object({ sport_detected: Type.Boolean(), ...found }, closed);
export type SportResult = Static<typeof SportResult>;

export const AnalysisResult = Type.Union([TranscriptionResult, NsfwResult, NudityResult, SportResult]);
export type AnalysisResult = Static<typeof AnalysisResult>;

/** Labels that may end an analysis early. */
export const STOP_LABELS = [...new Set([...HARD_NUDITY_LABELS, ...SOFT_NUDITY_LABELS])];
