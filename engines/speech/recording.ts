import fs from 'node:fs/promises';
import type { Phrase, Recording } from '../interfaces.ts';

export const SAMPLE_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
const SCALE = 32_768;

/** Returns the raw bytes of a section of a recording. */
export async function readBytes(file: fs.FileHandle, { from, to }: Phrase): Promise<Buffer> {
  const wanted = Buffer.alloc((to - from) * BYTES_PER_SAMPLE);
  const { bytesRead } = await file.read(wanted, 0, wanted.length, from * BYTES_PER_SAMPLE);
  return wanted.subarray(0, bytesRead);
}

/** Returns samples from -1 to 1. */
export function samplesOf(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / BYTES_PER_SAMPLE));
  for (let index = 0; index < samples.length; index++)
    samples[index] = bytes.readInt16LE(index * BYTES_PER_SAMPLE) / SCALE;
  return samples;
}

/** Yields a recording piece by piece. */
export async function* pieces(
  recording: Recording,
  samplesPerPiece: number,
): AsyncGenerator<{ from: number; samples: Float32Array }> {
  const file = await fs.open(recording.file);
  try {
    for (let from = 0; from < recording.samples; from += samplesPerPiece) {
      const to = Math.min(from + samplesPerPiece, recording.samples);
      yield { from, samples: samplesOf(await readBytes(file, { from, to })) };
    }
  } finally {
    await file.close();
  }
}
