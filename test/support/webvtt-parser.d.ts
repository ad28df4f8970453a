/** The part of the validator that is used; the package has no types. */
declare module 'webvtt-parser' {
  export class WebVTTParser {
    parse(
      input: string,
      mode: 'metadata' | 'subtitles/captions/descriptions' | 'chapters',
    ): {
      errors: { message: string; line: number }[];
      cues: { startTime: number; endTime: number; text: string }[];
    };
  }
}
