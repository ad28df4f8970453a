import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createTaskEnds } from '../../src/build-platform.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Secrets } from '../../src/secrets/secrets.ts';
import { ROOT } from '../acceptance/processes.ts';

/** Only the ends of tasks use them. */
const secrets = {} as Secrets;

it('are those of docs/operators.md', () => {
  const text = fs.readFileSync(path.join(ROOT, 'docs/operators.md'), 'utf8');
  const [, table = ''] = /^\| minutes \| tasks \|\n\|.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const rows = [...table.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, minutes, types = '']) => ({
    minutes: Number(minutes),
    types: [...types.matchAll(/`(\w+)`/g)].map(([, type]) => type),
  }));
  const others = rows.at(-1)?.minutes;
  const documented = new Map(rows.flatMap(({ minutes, types }) => types.map((type) => [type, minutes])));
  const kinds = [...createTaskEnds({ clock: systemClock, secrets }).values()];
  const own = kinds.map(({ type, deadlineMs }) => [type, deadlineMs / 60_000] as const);
  expect(Object.fromEntries(own.filter(([, minutes]) => minutes !== others))).toEqual(Object.fromEntries(documented));
});
