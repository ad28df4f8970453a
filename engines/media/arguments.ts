import type { MediaFormat } from './formats.ts';

/** More than the largest cameras produce (108 million); such a frame still fits into ffmpeg's memory limit. */
export const MAX_PIXELS = 120_000_000;

/** Returns the arguments for opening a file: only local, only in the format of its content, and no referenced files. */
export function inputArguments({ demuxer }: MediaFormat, media: string): string[] {
  return [
    ...['-v', 'error', '-threads', '1', '-max_pixels', String(MAX_PIXELS)],
    ...['-protocol_whitelist', 'file', '-format_whitelist', demuxer, '-f', demuxer, '-i', `file:${media}`],
  ];
}
