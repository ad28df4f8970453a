import fs from 'node:fs';
import path from 'node:path';
import { copyOfThisRelease } from '../releases.ts';

const CHANGED = 'simulation/lives.ts';

/** Builds a copy of the product in which simulated things get ready in another order. Returns its folder. */
export function buildTestRelease(): string {
  return copyOfThisRelease((folder) => {
    const changed = path.join(folder, CHANGED);
    fs.renameSync(changed, path.join(folder, 'simulation/former.ts'));
    const text = fs.readFileSync(path.join(import.meta.dirname, 'lives.ts'), 'utf8');
    fs.writeFileSync(
      changed,
      text.replaceAll(`../../../${CHANGED}`, './former.ts').replaceAll("'../../../src/", "'../src/"),
    );
  });
}
