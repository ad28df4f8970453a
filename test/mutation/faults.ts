/** A fault in one file of the product, which is found by the text that it replaces. */
export interface PlantedFault {
  /** What goes wrong. */
  name: string;
  /** Occurs exactly once in the sources. */
  text: string;
  becomes: string;
  /** Where it should be noticed: parts of the paths of fast tests. Others are tried after them. */
  noticedBy: string[];
}

/** One in each layer, from the door to the infrastructure. */
export const FAULTS: PlantedFault[] = [
  {
    name: 'a token is let in with a wrong secret',
    text: 'if (!owner || !timingSafeEqual(owner.secretHash, secretHash(token.secret))) throw invalid(UNKNOWN_TOKEN);',
    becomes: 'if (!owner) throw invalid(UNKNOWN_TOKEN);',
    noticedBy: ['identity/authenticate'],
  },
  {
    name: 'a token without rights may do everything',
    text: 'if (allows(principal, access)) return;',
    becomes: 'return;',
    noticedBy: ['meta/every-operation'],
  },
  {
    name: 'a service that is switched off works',
    text: 'if (!service || !principal.shutServices?.includes(service)) return;',
    becomes: 'if (!service || principal.shutServices) return;',
    noticedBy: ['client-services/client-services'],
  },
  {
    name: 'no token has a rate limit',
    text: 'if (consumedPoints > limit) {',
    becomes: 'if (consumedPoints > limit && limit < 0) {',
    noticedBy: ['http/admission'],
  },
  {
    name: 'an Idempotency-Key is ignored',
    text: 'if (use) await takeKey(tx, use, clock.now());',
    becomes: '',
    noticedBy: ['requests/idempotency'],
  },
  {
    name: 'If-Match is ignored',
    text: 'if (version === undefined || versions.includes(version)) return;',
    becomes: 'if (version === undefined || versions.length > 0) return;',
    noticedBy: ['requests/if-match'],
  },
  {
    name: 'a dry run is carried out',
    text: `await hold(client, result);
          await client.query('rollback');`,
    becomes: `await hold(client, result);
          await client.query('commit');`,
    noticedBy: ['http/dry-runs'],
  },
  {
    name: 'an accepted change has no event',
    text: 'if (event) tx.send(insertToldAction, { ...action, ...event });',
    becomes: 'if (event) tx.send(insertActionRow, action);',
    noticedBy: ['events/events.test'],
  },
  {
    name: 'volumes of other projects are shown',
    text: `order by snapshots.created_at, snapshots.id)\`.as('snapshot_ids'),
    )
    .where(isIn(place));`,
    becomes: `order by snapshots.created_at, snapshots.id)\`.as('snapshot_ids'),
    );`,
    noticedBy: ['meta/foreign-tenant'],
  },
  {
    name: 'a page begins one too late',
    text: 'const rows = await run(offset === 0 ? limited : limited.offset(offset));',
    becomes: 'const rows = await run(offset === 0 ? limited : limited.offset(offset + 1));',
    noticedBy: ['volumes/volumes.test'],
  },
  {
    name: 'two changes of one volume do not wait for each other',
    text: `.selectFrom('volumes')
    .selectAll()
    .where('id', 'in', ids)
    .where(isIn(place))
    .orderBy('id')
    .forNoKeyUpdate()`,
    becomes: `.selectFrom('volumes')
    .selectAll()
    .where('id', 'in', ids)
    .where(isIn(place))
    .orderBy('id')`,
    noticedBy: ['changes/changes.test', 'acceptance/concurrency.test'],
  },
  {
    name: 'a quota is not counted',
    text: 'on conflict (client_id, region_id, attribute) do update set used = quota_usage.used + excluded.used',
    becomes: 'on conflict (client_id, region_id, attribute) do update set used = quota_usage.used',
    noticedBy: ['quotas/quotas.test'],
  },
  {
    name: 'the price of an hour is rounded up from the half',
    text: 'const hour = listHour.times(discounted).toDecimalPlaces(HOUR_DECIMALS);',
    becomes: 'const hour = listHour.times(discounted).toDecimalPlaces(HOUR_DECIMALS, Decimal.ROUND_HALF_UP);',
    noticedBy: ['prices/formula'],
  },
  {
    name: 'what no task waits for is not wanted of the infrastructure',
    text: 'await (taskId === undefined ? write(tx.sql, args) : writeForTask(tx.sql, args));',
    becomes: 'if (taskId !== undefined) await writeForTask(tx.sql, args);',
    noticedBy: ['convergence/order', 'convergence/orphans'],
  },
  {
    name: 'what was changed meanwhile is settled all the same',
    text: `worker_id = \${workerId} and generation = \${generation}\`;`,
    becomes: `worker_id = \${workerId} and \${generation}::int > 0\`;`,
    noticedBy: ['convergence/pursuit', 'convergence/task-end'],
  },
  {
    name: 'two workers send the same mail',
    text: `due_at <= \${now} and expires_at > \${now} and worker_id is null`,
    becomes: `due_at <= \${now} and expires_at > \${now}`,
    noticedBy: ['mail/mail.test'],
  },
  {
    name: 'the signature of a webhook says nothing of its time',
    text: `.update(\`\${id}.\${timestamp}.\${body}\`)`,
    becomes: `.update(\`\${id}.\${body}\`)`,
    noticedBy: ['webhooks/signing'],
  },
  {
    name: 'a seal of the audit log may follow another one than the one before',
    text: 'and seal.previous = before.hash',
    becomes: '',
    noticedBy: ['audit/chain'],
  },
  {
    name: 'an encrypted value can be moved to another row',
    text: 'return JSON.stringify([column, ...row.map((part) => String(part).toLowerCase())]);',
    becomes: 'return JSON.stringify([column, row.length]);',
    noticedBy: ['secrets/sealed'],
  },
  {
    name: 'a command that fails says that it went well',
    text: 'return error.exitCode;',
    becomes: 'return error.exitCode * 0;',
    noticedBy: ['cli/cli.test'],
  },
];
