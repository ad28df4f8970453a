import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../test/support/engine-settings.ts';
import { analysed, jobFor, makeFile, makeMedia, needs, newFile } from '../../test/support/engines.ts';
import type { Frame } from '../interfaces.ts';
import { DEFAULT_LIMITS } from '../job.ts';
import { createPrograms } from '../programs.ts';
import { createMediaTools } from './tools.ts';

const clip = (seconds: number) => ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${seconds}`];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=d=${seconds}`];

function nsfw(media: string, limits = {}) {
  return analysed(jobFor(media, { kind: 'content-moderation' }, limits));
}

function speech(media: string) {
  return analysed(jobFor(media, { kind: 'transcription' }));
}

/** Returns the first half of a file. */
function half(media: string, share = 0.5): string {
  const content = fs.readFileSync(media);
  return makeFile(`half-${path.basename(media)}`, content.subarray(0, Math.floor(content.length * share)));
}

/** Returns a black and white picture that is entirely white, with `side` pixels in both directions. */
function pngBomb(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side);
  header.writeUInt32BE(side, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(side * (1 + side / 8)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

describe('what is no medium', needs('media', 'nsfw'), () => {
  const PLAYLIST = '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n';
  it.each([
    ['an empty file', '', 'The file is empty (0 bytes).'],
    ['a page', '<!DOCTYPE html>\n<html><body>404</body></html>', 'Unsupported file type: text/html.'],
    ['a page with white space before', '\n\n  <html>', 'Unsupported file type: text/html.'],
    ['an HLS playlist', PLAYLIST, 'Unsupported file type: application/vnd.apple.mpegurl'],
    ['a list of ffmpeg', "ffconcat version 1.0\nfile '/etc/passwd'\n", 'Unsupported file type: text/ffconcat'],
    ['JSON', '{"error": "not found"}', 'Unsupported file type: application/json.'],
    ['text', 'Nothing to see here.', 'Unsupported file type: text/plain.'],
    ['a picture as XML', '<?xml version="1.0"?><svg/>', 'Unsupported file type: application/xml.'],
    ['an archive', Buffer.from('504b0304140000000000', 'hex'), 'Unsupported file type: application/zip.'],
    ['noise', Buffer.from(Array.from({ length: 4_000 }, (_, i) => (i * 7_919) % 256)), 'Unsupported file type'],
    ['a PDF', '%PDF-1.7\n', 'Unsupported file type: application/pdf.'],
  ])('%s is refused by its content, whatever its name', async (_, content, reason) => {
    await expect(nsfw(makeFile('video.mp4', content))).rejects.toThrow(reason);
  });

  it('says what would do', async () => {
    await expect(nsfw(makeFile('a.mp4', 'text'))).rejects.toThrow(
      'Supported are MP4, Matroska, AVI, MPEG-TS, MP3, WAV, Ogg, FLAC, AAC, JPEG, PNG.',
    );
  });
});

describe('damaged media', needs('media', 'nsfw', 'speech'), () => {
  it('an MP4 that lost its index is refused', async () => {
    await expect(nsfw(half(makeMedia('a.mp4', ...clip(4))))).rejects.toThrow(
      "The file can't be read as MP4: it is damaged or incomplete (its index, the moov atom, is missing).",
    );
  });

  it('an MP4 that ends early is refused, for its pictures and for its sound', async () => {
    const whole = makeMedia('b.mp4', ...clip(30), ...tone(30), '-movflags', '+faststart');
    await expect(nsfw(half(whole))).rejects.toThrow(/The file ends early: .* of its 30\.0 seconds/);
    await expect(speech(half(whole))).rejects.toThrow(/The file ends early: .* of its 30\.0 seconds/);
  });

  it('a picture that ends early is refused', async () => {
    const picture = makeMedia('c.jpg', ...clip(1), '-frames:v', '1');
    await expect(nsfw(half(picture))).rejects.toThrow("can't be read as JPEG");
    const png = makeMedia('d.png', ...clip(1), '-frames:v', '1');
    await expect(nsfw(half(png))).rejects.toThrow("can't be read as PNG");
  });

  it('an MP4 whose content is overwritten is refused', async () => {
    const media = makeMedia('e.mp4', ...clip(4), '-movflags', '+faststart');
    const content = fs.readFileSync(media);
    content.fill(0x5a, content.indexOf('mdat') + 4);
    await expect(nsfw(makeFile('f.mp4', content))).rejects.toThrow(/can't be read as MP4|ends early/);
  });
});

describe('media that lack what is asked', needs('media', 'nsfw', 'speech'), () => {
  it('speech of a silent film and of a picture', async () => {
    const film = makeMedia('a.mp4', ...clip(2));
    await expect(speech(film)).rejects.toThrow('The MP4 file has no audio track.');
    const picture = makeMedia('a.png', ...clip(1), '-frames:v', '1');
    await expect(speech(picture)).rejects.toThrow('The PNG file has no audio track.');
  });

  it('pictures of a sound, with or without a cover', async () => {
    await expect(nsfw(makeMedia('a.mp3', ...tone(2)))).rejects.toThrow('The MP3 file has no video track.');
    const cover = makeMedia('cover.jpg', ...clip(1), '-frames:v', '1');
    const song = makeMedia(
      'b.mp3',
      ...[...tone(2), '-i', cover, '-map', '0:a', '-map', '1:v', '-c:v', 'copy'],
      ...['-disposition:v', 'attached_pic'],
    );
    await expect(nsfw(song)).rejects.toThrow('The MP3 file has no video track.');
  });
});

describe('media that would take too much', needs('media', 'nsfw', 'speech'), () => {
  it('a picture of 400 million pixels in a small file', async () => {
    const bomb = makeFile('bomb.png', pngBomb(20_000));
    expect(fs.statSync(bomb).size).toBeLessThan(200_000);
    await expect(nsfw(bomb)).rejects.toThrow(/too large|larger than 120 million pixels/);
  });

  it('a length beyond the limit, and one that is absurd', async () => {
    const media = makeMedia('long.mp4', ...clip(5));
    await expect(nsfw(media, { durationSeconds: 4 })).rejects.toThrow(
      'The file lasts 5 seconds; at most 4 are accepted. Send it in parts.',
    );
    const content = fs.readFileSync(media);
    // The length in the film's header, in thousandths of a second.
    content.writeUInt32BE(0xfffffff0, content.indexOf('mvhd') + 4 + 16);
    content.writeUInt32BE(0xfffffff0, content.indexOf('tkhd') + 4 + 20);
    await expect(nsfw(makeFile('absurd.mp4', content))).rejects.toThrow(/The file lasts \d{6,} seconds/);
  });

  it('more memory than the limit', async () => {
    const picture = makeMedia('large.png', '-f', 'lavfi', '-i', 'color=s=6000x6000', '-frames:v', '1');
    await expect(nsfw(picture, { memoryBytes: 120_000_000 })).rejects.toThrow(/can't be read as PNG|takes too much/);
  });

  it('more processor time or time than the limit', async () => {
    const part = ['-f', 'lavfi', '-i', 'testsrc2=s=1280x720:r=60:d=5', '-preset', 'ultrafast'];
    // Copied, since encoding takes longer than the test.
    const again = ['-stream_loop', '4', '-i', makeMedia('part.mp4', ...part), '-c', 'copy'];
    const media = makeMedia('heavy.mp4', ...again);
    await expect(nsfw(media, { cpuSeconds: 1 })).rejects.toThrow(
      'The MP4 file takes too much time, memory or space to decode.',
    );
    await expect(nsfw(media, { wallSeconds: 1 })).rejects.toThrow(/takes too (long|much)/);
  });
});

describe('a medium that names another file', needs('media', 'nsfw'), () => {
  it('is not followed there', async () => {
    const secret = makeMedia('secret.mp4', ...clip(2));
    const outside = makeFile('outside.mp4', pointingTo(secret));
    // ffmpeg would follow it if it were asked to, so it really is a reference.
    expect(framesRead('-enable_drefs', '1', '-use_absolute_path', '1', '-i', outside)).toBe(50);
    await expect(nsfw(outside)).rejects.toThrow(/can't be read as MP4|ends early/);
  });
});

function framesRead(...input: string[]): number {
  const read = execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...input, '-f', 'framemd5', '-'], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return read.split('\n').filter((line) => /^\d/.test(line)).length;
}

/**
 * Returns the film without its pictures, which are said to be in the file itself: a Macintosh alias with its
 * absolute path.
 */
function pointingTo(film: string): Buffer {
  const content = fs.readFileSync(film);
  content.fill(0, content.indexOf('mdat') + 4, content.indexOf('moov') - 4);
  const old = content.indexOf('url \u0000\u0000\u0000\u0001', 0, 'latin1') - 4;
  const name = Buffer.from(film.length % 2 === 0 ? film : `${film}\u0000`);
  // 150 bytes of empty names and numbers, then an entry with the path, then the end of the entries.
  const alias = Buffer.concat([Buffer.alloc(162), Buffer.alloc(4), name, Buffer.from('ffff0000', 'hex')]);
  alias.writeUInt32BE(alias.length, 0);
  alias.write('alis', 4);
  alias.writeUInt16BE(2, 162);
  alias.writeUInt16BE(name.length, 164);
  const grown = alias.length - 12;
  for (const box of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
    const at = content.indexOf(box) - 4;
    content.writeUInt32BE(content.readUInt32BE(at) + grown, at);
  }
  return Buffer.concat([content.subarray(0, old), alias, content.subarray(old + 12)]);
}

describe('a long film', needs('media'), () => {
  const plan = { size: 32, fit: 'stretch', intervalSeconds: 1 } as const;

  async function framesOf(media: string) {
    const folder = newFile('job');
    fs.mkdirSync(folder);
    const limits = DEFAULT_LIMITS;
    const programs = createPrograms({ searchPath: DEFAULT_SETTINGS.searchPath, folder, limits });
    const commands: string[] = [];
    const tools = createMediaTools({
      programs: {
        start(program, args) {
          commands.push(args.join(' '));
          return programs.start(program, args);
        },
      },
      ...{ ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', folder, limits },
    });
    const frames: Frame[] = [];
    for await (const frame of tools.frames(media, await tools.inspect(media), plan)) frames.push(frame);
    return { frames, shortCut: commands.some((command) => command.includes('-skip_frame nokey')) };
  }
  const film = (keyFrames: number) =>
    makeMedia(
      'film.mp4',
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=64x64:r=4:d=130',
      '-g',
      String(keyFrames),
      '-sc_threshold',
      '0',
    );

  it('is seen by its key frames where each second has one, and gives the same pictures', async () => {
    const often = await framesOf(film(4));
    const seldom = await framesOf(film(40));
    expect([often.shortCut, seldom.shortCut]).toEqual([true, false]);
    const numbers = Array.from({ length: 130 }, (_, second) => second * 4);
    expect(often.frames.map(({ number }) => number)).toEqual(numbers);
    expect(seldom.frames.map(({ number }) => number)).toEqual(numbers);
    for (const [index, { rgb }] of often.frames.entries())
      expect(distance(rgb, seldom.frames[index]?.rgb ?? new Uint8Array())).toBeLessThan(8);
  });
});

/** Returns the average difference of the values. */
function distance(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 1_000)), 0) / a.length;
}

describe('media that say little of themselves', needs('media', 'nsfw'), () => {
  it('a live recording without a length is measured by its packets', async () => {
    const file = newFile('live.webm');
    const webm = execFileSync(
      'ffmpeg',
      [
        '-nostdin',
        '-v',
        'error',
        ...clip(5),
        '-c:v',
        'libvpx',
        '-deadline',
        'realtime',
        '-f',
        'webm',
        '-live',
        '1',
        'pipe:1',
      ],
      { maxBuffer: 2 ** 26 },
    );
    fs.writeFileSync(file, webm);
    const { messages } = await nsfw(file);
    const facts = messages.find((message) => message.type === 'facts');
    expect(facts?.durationSeconds).toBeGreaterThan(4);
    expect(facts?.durationSeconds).toBeLessThan(6);
  });

  it('a picture counts as one second', async () => {
    const { messages } = await nsfw(makeMedia('a.jpg', ...clip(1), '-frames:v', '1'));
    expect(messages).toContainEqual({ type: 'facts', durationSeconds: 1, framesPerSecond: 1 });
  });
});
