import type { Database } from '../../../db/database.ts';
import type { Image } from './service.ts';
import { livingReaders } from './store.ts';

export interface CatalogReader {
  host: string;
  pid: number;
  /** The oldest revision that its API or its worker works with. */
  revision: number;
  /** A revision that the process can't read, and why. */
  refused: number | null;
  problem: string | null;
}

/** Returns every living process on the database, each once. */
export async function catalogReaders({ sql }: Pick<Database, 'sql'>): Promise<CatalogReader[]> {
  const processes = new Map<string, CatalogReader>();
  for (const { id: _, ...reader } of await livingReaders(sql)) {
    const key = `${reader.host} ${reader.pid}`;
    const known = processes.get(key);
    if (!known || reader.revision < known.revision) processes.set(key, reader);
  }
  return [...processes.values()];
}

/**
 * Returns pairs of images of one region of which one is named like the beginning of the other, in any case. The older
 * Terraform provider takes a name for a beginning, and refuses to choose between several images.
 */
export function sharedImageNames(images: readonly Image[]): [shorter: string, longer: string][] {
  const names = images.map(({ name }) => name).toSorted((a, b) => a.length - b.length);
  return names.flatMap((shorter, index) =>
    names
      .slice(index + 1)
      .filter((longer) => longer.toLowerCase().startsWith(shorter.toLowerCase()))
      .map((longer): [string, string] => [shorter, longer]),
  );
}
