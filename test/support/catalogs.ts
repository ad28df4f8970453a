import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';

type File = Record<string, object[]>;

/** Makes a folder with the shipped catalogue, with one file changed. */
export function changedCatalog(name: string, change: (file: File) => File): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-catalog-'));
  fs.cpSync('catalog', folder, { recursive: true });
  const file = path.join(folder, name);
  fs.writeFileSync(file, stringify(change(parse(fs.readFileSync(file, 'utf8')) as File)));
  return folder;
}

/** Makes a folder with the shipped catalogue in which every region has these quotas. */
export function catalogWithQuotas(quotas: Record<string, number>): string {
  return changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) => ({ ...region, quotas })),
  }));
}

/** Makes a folder with the shipped catalogue in which these regions have backends of these kinds, and all others simulated ones. */
export function catalogOfBackends(kinds: Record<number, string>): string {
  const folder = changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) => ({ ...region, backend: kinds[(region as { id: number }).id] ?? 'simulated' })),
  }));
  const backends = [...new Set(['simulated', ...Object.values(kinds)])].map((kind) => ({ name: kind, kind }));
  fs.writeFileSync(path.join(folder, 'backends.yaml'), stringify({ backends }));
  return folder;
}
