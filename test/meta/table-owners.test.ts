import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/source-files.ts';

/*
 * Features may join any table, but only write their own. Code that writes another feature's table relies on
 * rules that its author will have forgotten when they change. A table belongs to the folder whose `tables.ts`
 * describes it.
 */

const sources = sourceFiles().filter((file) => !/\.test\.ts$|\/fixtures\//.test(file));

/**
 * Tables with two owners: the feature writes how a task begins and waits, convergence how it continues and ends; requests
 * write what happened, and those who show it forget it or note what they have sent. The rows of accounts and people have their locks and what many need
 * in `iam/accounts`. Addresses are taken and given back in `network/addresses`, which stands below networks.
 */
const SHARED: Record<string, string> = {
  events: 'src/requests',
  user_actions: 'src/cloud/ground/user-actions',
  free_external_addresses: 'src/cloud/network/addresses',
  ip_assignments: 'src/cloud/network/addresses',
  subnets: 'src/cloud/network/addresses',
  clients: 'src/iam/accounts',
  resellers: 'src/iam/accounts',
  users: 'src/iam/accounts',
  client_users: 'src/iam/accounts',
  invitations: 'src/iam/accounts',
  tasks: 'src/convergence',
  task_wants: 'src/cloud/ground/tasks',
  waiting_deletions: 'src/convergence',
};

const owners = new Map<string, string>();
for (const file of sources.filter(
  (one) => path.basename(one) === 'tables.ts' && !one.startsWith('src/db/'),
)) {
  const folder = path.dirname(file);
  for (const [, body = ''] of readFileSync(file, 'utf8').matchAll(/interface \w+Tables \{\n(.*?)\n\}/gs)) {
    for (const [, table = ''] of body.matchAll(/^ {2}(\w+): /gm)) owners.set(table, folder);
  }
}

const WRITES = [
  /\b(?:insertInto|updateTable|deleteFrom)\('(\w+)(?: as \w+)?'/g,
  /\b(?:insert into|delete from|merge into)\s+(\w+)/gi,
  /(?<!\bfor (?:no key )?)\bupdate\s+(\w+)\s+(?:(?:as\s+)?(?!set\b)\w+\s+)?set\b/gi,
];

function writesOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return WRITES.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, table = '']) => table.toLowerCase()),
  );
}

const within = (file: string, folder: string | undefined) =>
  folder !== undefined && file.startsWith(`${folder}/`);

it('finds who owns each table, and the statements that write it', () => {
  const written = new Set(sources.flatMap(writesOf));
  expect([...owners.keys()].filter((table) => !written.has(table))).toEqual([]);
});

it('lets no feature write the tables of another', () => {
  const foreign = sources.flatMap((file) =>
    writesOf(file)
      .filter((table) => owners.has(table))
      .filter((table) => !within(file, owners.get(table)) && !within(file, SHARED[table]))
      .map((table) => `${file} writes ${table}, which belongs to ${owners.get(table)}`),
  );
  expect(foreign).toEqual([]);
});
