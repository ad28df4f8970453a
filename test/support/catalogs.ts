import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';

/** A folder with the shipped catalogue in which every region has these quotas. */
export function catalogWithQuotas(quotas: Record<string, number>): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-catalog-'));
  fs.cpSync('catalog', folder, { recursive: true });
  const file = path.join(folder, 'regions.yaml');
  const { regions } = parse(fs.readFileSync(file, 'utf8')) as { regions: object[] };
  fs.writeFileSync(file, stringify({ regions: regions.map((region) => ({ ...region, quotas })) }));
  return folder;
}
