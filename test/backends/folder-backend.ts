import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Backend,
  type Call,
  type Kind,
  type Ref,
  Refused,
  Unavailable,
  Unsupported,
} from '../../src/backends/contract/backend.ts';
import { holdsData } from '../../src/backends/contract/needs.ts';
import type { Observations } from '../../src/backends/contract/specs.ts';

export const FOLDER_KINDS = ['volume', 'snapshot', 'image', 'file_share', 'network'] as const satisfies Kind[];

/** The contents of a file. */
interface Kept {
  /** Distinguishes our own files from others. */
  madeBy: 'tradewind';
  kind: Kind;
  id: string;
  spec: object;
  /** Remaining steps, so that more than one call is needed. */
  left: number;
  removing?: true;
}

const LARGEST_GIB = 1_000;
const SOON_MS = 5;

/**
 * Infrastructure made of files: each thing is a JSON file in a folder, with a name that the folder assigns.
 * It shows what a backend has to do, and nothing else: it has no sizes, disks or network.
 */
export function createFolderBackend(folder: string): Backend {
  /** Finds the thing by its handle, or by looking through all files if an answer was lost. */
  async function find({ kind, id, handle }: Ref): Promise<{ file: string; kept: Kept } | undefined> {
    const named = typeof handle === 'string' ? await read(handle) : undefined;
    if (named?.kind === kind && named.id === id) return { file: handle as string, kept: named };
    const file = nameOf(kind, id);
    const kept = await read(file);
    return kept && { file, kept };
  }

  async function read(file: string): Promise<Kept | undefined> {
    try {
      const kept = JSON.parse(await fs.readFile(path.join(folder, file), 'utf8')) as Kept;
      return kept.madeBy === 'tradewind' ? kept : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Writes all or nothing. If several try to create a file, only one succeeds. */
  async function write(file: string, kept: Kept, { isNew = false } = {}): Promise<void> {
    const draft = path.join(folder, `.${randomUUID()}`);
    await fs.writeFile(draft, JSON.stringify(kept));
    if (!isNew) return fs.rename(draft, path.join(folder, file));
    try {
      await fs.link(draft, path.join(folder, file));
    } catch (error) {
      // Another process was faster: the next call sees the result.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await fs.unlink(draft);
    }
  }

  async function present(ref: Ref, spec: object, wasThere: boolean) {
    const found = await find(ref);
    const { kind, id } = ref;
    if (!found) {
      if (wasThere && holdsData(kind)) throw new Refused('its file has gone');
      const file = nameOf(kind, id);
      await write(file, { madeBy: 'tradewind', kind, id, spec, left: 2 }, { isNew: true });
      return progressing('making it', file);
    }
    const { file, kept } = found;
    if (kept.removing || !isDeepStrictEqual(kept.spec, spec)) {
      await write(file, { madeBy: 'tradewind', kind, id, spec, left: 1 });
      return progressing('changing it', file);
    }
    if (kept.left > 0) {
      await write(file, { ...kept, left: kept.left - 1 });
      return progressing(`${kept.left} steps to go`, file);
    }
    return { state: 'settled', observed: observed(kind, id), handle: file } as const;
  }

  async function absent(ref: Ref) {
    const found = await find(ref);
    if (!found) return { state: 'settled', observed: null } as const;
    const { file, kept } = found;
    if (!kept.removing) await write(file, { ...kept, removing: true });
    else await fs.rm(path.join(folder, file), { force: true });
    return progressing('removing it', file);
  }

  return {
    problems(kind, spec) {
      const { sizeGib = 0 } = spec as { sizeGib?: number };
      const message = `The folder holds up to ${LARGEST_GIB} GiB; take a smaller size.`;
      return kind === 'volume' && sizeGib > LARGEST_GIB ? [{ field: 'size', message }] : [];
    },
    async converge(ref, spec, { signal, wasThere }: Call) {
      signal.throwIfAborted();
      const about = await fs.stat(folder).catch(() => undefined);
      if (!about) throw new Unavailable(`${folder} is not mounted`);
      if (!about.isDirectory()) throw new Unsupported(`${folder} is no folder; name one`);
      signal.throwIfAborted();
      return (spec === null ? absent(ref) : present(ref, spec, wasThere)) as never;
    },
    async observe(ref) {
      const found = await find(ref);
      return found && !found.kept.removing ? (observed(ref.kind, ref.id) as never) : null;
    },
    async *list() {
      for (const file of await fs.readdir(folder)) {
        if (file.startsWith('.')) continue;
        const kept = await read(file);
        if (kept) yield { kind: kept.kind, id: kept.id, handle: file };
      }
    },
  };
}

const nameOf = (kind: Kind, id: string): string => `${kind}.${id}.json`;

function observed(kind: Kind, id: string): Observations[Kind] {
  return kind === 'file_share' ? { connectionPoint: `folder:/${id}` } : {};
}

const progressing = (doing: string, handle: string) =>
  ({ state: 'progressing', doing, askAgainMs: SOON_MS, handle }) as const;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
