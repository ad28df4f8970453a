import type { Word } from '../interfaces.ts';
import type { TranscriptionResult } from '../results.ts';

/** Two lines of 37 characters, the usual size of subtitles. */
const MAX_CHARACTERS = 74;
const MAX_SECONDS = 6;
/** A pause that ends a subtitle. */
const PAUSE_SECONDS = 0.6;
const MIN_SECONDS = 0.1;

interface Line {
  startSeconds: number;
  endSeconds: number;
  text: string;
}

/** Returns the result of a transcription from its words. */
export function transcriptionResult(words: readonly Word[], languages: readonly string[]): TranscriptionResult {
  const lines = withoutOverlaps(linesOf(words));
  const subtitles = lines.map(({ startSeconds, endSeconds, text }) => ({
    start_time: subtitleTime(startSeconds),
    end_time: subtitleTime(endSeconds),
    text,
  }));
  return {
    speech_detected: subtitles.length > 0,
    concatenated_text: subtitles.map(({ text }) => text).join(' '),
    subtitles,
    vttContent: webVtt(subtitles),
    languages: languages.slice(0, 5),
  };
}

function linesOf(words: readonly Word[]): Line[] {
  const lines: Line[] = [];
  for (const { text, startSeconds, endSeconds } of words) {
    const line = lines.at(-1);
    const joins =
      line &&
      startSeconds - line.endSeconds <= PAUSE_SECONDS &&
      endSeconds - line.startSeconds <= MAX_SECONDS &&
      line.text.length + 1 + text.length <= MAX_CHARACTERS;
    if (joins) {
      line.text += ` ${text}`;
      line.endSeconds = Math.max(line.endSeconds, endSeconds);
    } else lines.push({ startSeconds, endSeconds, text });
  }
  return lines;
}

/** Players show overlapping subtitles together, and never show those without a duration. */
function withoutOverlaps(lines: readonly Line[]): Line[] {
  return lines.map((line, index) => {
    const next = lines[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    const end = Math.max(line.endSeconds, line.startSeconds + MIN_SECONDS);
    return { ...line, endSeconds: next > line.startSeconds ? Math.min(end, next) : end };
  });
}

/** HH:mm:ss.fff */
export function subtitleTime(seconds: number): string {
  const milliseconds = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1_000) % 60];
  return `${clock.map(two).join(':')}.${String(milliseconds % 1_000).padStart(3, '0')}`;
}

function webVtt(subtitles: TranscriptionResult['subtitles']): string {
  const cues = subtitles.map(({ start_time, end_time, text }) => `\n${start_time} --> ${end_time}\n${escaped(text)}\n`);
  return `WEBVTT\n${cues.join('')}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
