// Part of "npm run check": refuses what a migration must not do while processes of the previous release run.
import { migrations } from '../migrations/index.ts';
import { lint } from './migrations/lint.ts';

/** Earlier migrations ran when every process had to stop for an upgrade. */
const FIRST = '0038';

const names = Object.keys(migrations);
for (const [name, migration] of Object.entries(migrations)) {
  if (name < FIRST) continue;
  const faults = await lint(name, migration, names);
  if (faults === '') continue;
  process.stderr.write(faults);
  process.exitCode = 1;
}
