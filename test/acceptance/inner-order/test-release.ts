import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, temporaryFolder } from '../processes.ts';

const COPIED = ['src', 'migrations', 'scripts', 'package.json'];
const CHANGED = 'src/backends/simulated/lives.ts';

/** Builds a copy of the product in which simulated things get ready in another order. Answers its folder. */
export function buildTestRelease(): string {
  const folder = temporaryFolder();
  for (const name of fs.readdirSync(ROOT)) {
    const [from, to] = [path.join(ROOT, name), path.join(folder, name)];
    if (COPIED.includes(name)) fs.cpSync(from, to, { recursive: true });
    else if (name !== 'dist') fs.symlinkSync(from, to);
  }
  const [changed, former] = [
    path.join(folder, CHANGED),
    path.join(folder, 'src/backends/simulated/former.ts'),
  ];
  fs.renameSync(changed, former);
  const text = fs.readFileSync(path.join(import.meta.dirname, 'lives.ts'), 'utf8');
  fs.writeFileSync(changed, text.replaceAll(`../../../${CHANGED}`, './former.ts'));
  const { status, stderr } = spawnSync('node', ['scripts/build.mjs'], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The test release could not be built:\n${stderr}`);
  return folder;
}
