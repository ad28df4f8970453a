import fs from 'node:fs/promises';
import path from 'node:path';

const LOOK_MS = 250;
/** An entry costs the disk something even when it is empty. */
const ENTRY_BYTES = 4_096;
const BLOCK_BYTES = 512;

/**
 * Looks at what is written into a folder again and again. It sees a fast writer late; where the kernel counts there
 * is no need for it.
 * @param tooMuch called once, when there are more bytes than allowed on top of what was there
 * @returns ends the watch
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

/** Counted no further than `enough`: whoever fills a disk may do it with millions of files. */
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
    // What can't be read went meanwhile, or was closed so that nobody counts it.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return Number.POSITIVE_INFINITY;
  }
  return bytes;
}
