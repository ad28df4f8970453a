import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { packageRoot } from '../lib/package-root.ts';

/** Packages that contain models. Their files are read where npm put them; none of their code runs. */
export const MODEL_PACKAGES = {
  voice: '@ricky0123/vad-web',
  nsfw: 'nsfwjs',
  objects: '@vladmandic/human',
} as const;

export function packageFile(name: string, file: string): string {
  return path.join(packageRoot, 'node_modules', name, file);
}

/** Returns the version of an installed package; undefined if it isn't installed. */
export function packageVersion(name: string): string | undefined {
  const read = () =>
    JSON.parse(fs.readFileSync(packageFile(name, 'package.json'), 'utf8')) as { version?: string };
  return attempt(read)?.version;
}
