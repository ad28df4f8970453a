import fs from 'node:fs/promises';
import path from 'node:path';

const LOOK_MS = 250;
/** Even an empty entry takes space on the disk. */
const ENTRY_BYTES = 4_096;
const BLOCK_BYTES = 512;

/**
 * Checks repeatedly how much is written into a folder. It notices a fast writer late, and isn't needed where
 * the kernel counts.
 * @param tooMuch called once, when there are more bytes than allowed in addition to those at the start
 * @returns a function that ends the watch
 */
export function watchFolder(folder: string, allowedBytes: number, tooMuch: () => void): () => void {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let before: number | undefined;
  async function look(): Promise<void> {
    const bytes = await bytesIn(folder, (before ?? Number.POSITIVE_INFINITY) + allowedBytes);
    before ??= bytes;
    if (ended) return;
    if (bytes > before + allowedBytes) tooMuch();
    else timer = setTimeout(() => void look(), LOOK_MS);
  }
  void look();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Counts up to `enough`, since millions of small files may fill a disk too. */
async function bytesIn(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  try {
    for await (const entry of await fs.opendir(folder)) {
      const file = path.join(folder, entry.name);
      const { blocks } = await fs.lstat(file);
      bytes += ENTRY_BYTES + blocks * BLOCK_BYTES;
      if (entry.isDirectory()) bytes += await bytesIn(file, enough - bytes);
      if (bytes > enough) break;
    }
  } catch (error) {
    // Unreadable entries were deleted meanwhile, or closed to prevent counting.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return Number.POSITIVE_INFINITY;
  }
  return bytes;
}
