import { pino } from 'pino';
import { createBackends, type NamedBackend } from '../backends/backends.ts';
import { catalogOfDatabase } from '../cloud/ground/catalog/in-force.ts';
import { compare, type Orphan, removeOrphans } from '../convergence/orphans.ts';
import type { Database } from '../db/database.ts';
import { NotFoundError } from '../lib/errors.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets } from '../secrets/secrets.ts';
import type { Command, CommandContext } from './command.ts';
import { hostOf, MAKERS } from './from-settings.ts';
import { asOperator, asRecordedOperator } from './operator.ts';

const NONE = 'No orphans: everything on the backends is wanted.';
const BACKEND = '  --backend NAME   only this backend, by its name in backends.yaml\n';

export const orphansList: Command = {
  summary: 'show the resources on backends that nobody wants',
  help: BACKEND,
  options: { backend: { type: 'string' } },
  json: true,
  run: (context) =>
    asOperator(context, async (database) => {
      const found = await orphansOf(database, context);
      return { text: found.length === 0 ? NONE : shown(found), data: listed(found) };
    }),
};

export const orphansRemove: Command = {
  summary: 'remove the resources on backends that nobody wants',
  help: `${BACKEND}  --yes            do it; otherwise only show what would be removed
  Workers remove the resources, now or as soon as a worker runs again.
`,
  options: { backend: { type: 'string' }, yes: { type: 'boolean' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'orphans remove', async (database, { record }) => {
      const found = await orphansOf(database, context);
      if (found.length === 0) return { text: NONE, data: { removed: [] } };
      if (!context.options.yes)
        return {
          text: `${shown(found)}\nNothing was removed. Add --yes to remove them.`,
          data: { removed: [], orphans: listed(found) },
        };
      const removed = await database.transaction(async (tx) => {
        const done: Found[] = [];
        for (const { named, orphans } of found) done.push({ named, orphans: await removeOrphans(tx, named, orphans) });
        if (countOf(done) > 0) await record(tx);
        return done;
      });
      const left = countOf(found) - countOf(removed);
      const rest = left === 0 ? '' : `\n${left} more are wanted by now, or Tradewind can't remove them.`;
      const text = `${shown(removed)}\n${countOf(removed)} will be removed by the workers.${rest}`;
      return { text, data: { removed: listed(removed), left } };
    }),
};

interface Found {
  named: NamedBackend;
  orphans: Orphan[];
}

async function orphansOf(
  database: Database,
  { config, options: { backend } }: Pick<CommandContext, 'config' | 'options'>,
): Promise<Found[]> {
  const { sql } = database;
  const secrets = createSecrets({ sql, encryptionKeys: encryptionKeysOf(config) });
  const backends = createBackends(MAKERS, { sql, secrets, ...hostOf(config) });
  const catalog = await catalogOfDatabase(database, MAKERS);
  if (catalog) backends.adopt(catalog);
  const asked = backends.all().filter(({ name }) => backend === undefined || name === backend);
  if (backend !== undefined && asked.length === 0) throw new NotFoundError('Backend', String(backend));
  const found: Found[] = [];
  const log = pino({ level: 'silent' });
  for (const named of asked) {
    const { orphans } = await compare({ sql, log, signal: new AbortController().signal }, named);
    if (orphans.length > 0) found.push({ named, orphans });
  }
  return found;
}

const countOf = (found: readonly Found[]): number => found.reduce((sum, { orphans }) => sum + orphans.length, 0);

/** For --json. */
const listed = (found: readonly Found[]) =>
  found.flatMap(({ named: { name }, orphans }) =>
    orphans.map(({ kind, id, handle }) => ({ backend: name, kind, id, handle })),
  );

function shown(found: readonly Found[]): string {
  const lines = found.flatMap(({ named: { name }, orphans }) =>
    orphans.map(
      ({ kind, id, handle }) => `${name}  ${kind}  ${id}${handle === null ? '' : `  ${JSON.stringify(handle)}`}`,
    ),
  );
  return lines.join('\n');
}
