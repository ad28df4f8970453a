import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Removes what npx installed of packages in this folder: it keeps 74 MB for each address of a package. */
export function removeInstallations(folder: string, env: NodeJS.ProcessEnv = process.env): void {
  const { status, stdout } = spawnSync('npm', ['config', 'get', 'cache'], { env, encoding: 'utf8' });
  const all = path.join(stdout.trim(), '_npx');
  if (status !== 0 || !fs.existsSync(all)) return;
  for (const name of fs.readdirSync(all)) {
    const manifest = path.join(all, name, 'package-lock.json');
    if (fs.existsSync(manifest) && fs.readFileSync(manifest, 'utf8').includes(path.basename(folder)))
      fs.rmSync(path.join(all, name), { recursive: true, force: true });
  }
}
