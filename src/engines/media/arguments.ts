import type { MediaFormat } from './formats.ts';

/** More than the largest cameras make (108 million); a frame of it still fits into the memory that ffmpeg gets. */
export const MAX_PIXELS = 120_000_000;

/** How every file is opened: a local file, in the form that its content has, and nothing that it refers to. */
export function inputArguments({ demuxer }: MediaFormat, media: string): string[] {
  return [
    ...['-v', 'error', '-threads', '1', '-max_pixels', String(MAX_PIXELS)],
    ...['-protocol_whitelist', 'file', '-format_whitelist', demuxer, '-f', demuxer, '-i', `file:${media}`],
  ];
}
