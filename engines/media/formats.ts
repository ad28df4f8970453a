import fs from 'node:fs/promises';
import { fileTypeFromFile } from 'file-type';
import { UnusableMediaError } from '../interfaces.ts';

/**
 * How ffmpeg reads a file, according to its first bytes. ffmpeg is told the format, so that it never guesses
 * another one.
 */
export interface MediaFormat {
  name: string;
  /** ffmpeg's name */
  demuxer: string;
  still: boolean;
}

const MP4 = { name: 'MP4', demuxer: 'mov', still: false };
const MATROSKA = { name: 'Matroska', demuxer: 'matroska', still: false };
const OGG = { name: 'Ogg', demuxer: 'ogg', still: false };

/** By the extension that belongs to the content, not that of the file's name. */
const FORMATS: Readonly<Record<string, MediaFormat>> = {
  mp4: MP4,
  m4v: MP4,
  m4a: MP4,
  m4b: MP4,
  mov: MP4,
  '3gp': MP4,
  '3g2': MP4,
  mkv: MATROSKA,
  webm: MATROSKA,
  avi: { name: 'AVI', demuxer: 'avi', still: false },
  mts: { name: 'MPEG-TS', demuxer: 'mpegts', still: false },
  mp3: { name: 'MP3', demuxer: 'mp3', still: false },
  wav: { name: 'WAV', demuxer: 'wav', still: false },
  ogg: OGG,
  oga: OGG,
  ogv: OGG,
  ogx: OGG,
  opus: OGG,
  spx: OGG,
  flac: { name: 'FLAC', demuxer: 'flac', still: false },
  aac: { name: 'AAC', demuxer: 'aac', still: false },
  jpg: { name: 'JPEG', demuxer: 'jpeg_pipe', still: true },
  png: { name: 'PNG', demuxer: 'png_pipe', still: true },
};

const FORMAT_NAMES = [...new Set(Object.values(FORMATS).map((format) => format.name))].join(', ');

const HEAD_BYTES = 1_024;

/**
 * Returns a file's format by its content. Only known media are let through: ffmpeg never sees playlists,
 * which name other files, or anything that isn't a medium.
 * @throws UnusableMediaError
 */
export async function formatOf(media: string): Promise<MediaFormat> {
  if ((await fs.stat(media)).size === 0) throw new UnusableMediaError('The file is empty (0 bytes).');
  const type = await fileTypeFromFile(media);
  const format = type && Object.hasOwn(FORMATS, type.ext) ? FORMATS[type.ext] : undefined;
  if (format) return format;
  const what = type?.mime ?? (await textType(media)) ?? 'application/octet-stream';
  throw new UnusableMediaError(`Unsupported file type: ${what}. Supported are ${FORMAT_NAMES}.`);
}

async function textType(media: string): Promise<string | undefined> {
  const file = await fs.open(media);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    const text = head.toString('utf8').replace(/^\uFEFF/, '');
    if (/^\s*(<!doctype\s+html|<html|<head|<body)/i.test(text)) return 'text/html';
    if (/^\s*#EXTM3U/.test(text)) return 'application/vnd.apple.mpegurl (a playlist; send the file itself)';
    if (/^\s*ffconcat/.test(text)) return 'text/ffconcat (a playlist; send the file itself)';
    if (/^\s*[[{]/.test(text)) return 'application/json';
    return head.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d)) ? 'text/plain' : undefined;
  } finally {
    await file.close();
  }
}
