import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { packageRoot } from '../lib/package-root.ts';
import type { Command } from './command.ts';

/** The same as "npm run install:engines", for who has the npm package and no checkout. */
export const enginesInstall: Command = {
  summary: 'install what AI tasks need (240 MB of packages, and programs of the system)',
  help: '  --dry-run   only say what would be done\n',
  options: { 'dry-run': { type: 'boolean' } },
  async run({ options }) {
    const words = options['dry-run'] ? ['--dry-run'] : [];
    const script = path.join(packageRoot, 'scripts/install-engines.mjs');
    const [code] = await once(spawn(process.execPath, [script, ...words], { stdio: 'inherit' }), 'exit');
    return code ?? 1;
  },
};
