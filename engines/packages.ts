import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../src/lib/errors.ts';
import { packageRoot } from '../src/lib/own-program.ts';

/** Packages that contain models. Their files are read where npm put them; none of their code runs. */
export const MODEL_PACKAGES = {
  voice: '@ricky0123/vad-web',
  nsfw: 'nsfwjs',
  objects: '@vladmandic/human',
} as const;

/** Engines have a manifest of their own: who only serves the API needs none of them. */
export const PACKAGES = path.join(packageRoot, 'engines/node_modules');

export function packageFile(name: string, file: string): string {
  return path.join(PACKAGES, name, file);
}

/** Returns the version of an installed package; undefined if it isn't installed. */
export function packageVersion(name: string): string | undefined {
  const read = () => JSON.parse(fs.readFileSync(packageFile(name, 'package.json'), 'utf8')) as { version?: string };
  return attempt(read)?.version;
}
