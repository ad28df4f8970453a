import fs from 'node:fs';
import path from 'node:path';
import { packageRoot } from './package-root.ts';

/** The version of this release; package.json is the only place that says it. */
export const version = readVersion();

function readVersion(): string {
  const file = fs.readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}
