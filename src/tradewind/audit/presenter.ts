import type { AuditRecord } from './schema.ts';
import type { AuditRow, Sealed } from './store.ts';

/**
 * Returns a record as the API shows it. `sealed` is where the chain begins and ends. Accounts don't learn who runs
 * commands on which of the operator's machines; whoever may know `everything` does.
 */
export function presentedRecord(
  row: AuditRow,
  { sealed, everything }: { sealed: Sealed; everything: boolean },
): AuditRecord {
  const names = row.resource_names ?? [];
  const isCommand = row.origin === 'command';
  return {
    id: row.id,
    time: row.timestamp.toISOString(),
    client_id: row.client_id || null,
    actor: {
      kind: isCommand ? 'operator' : row.user_id === 0 ? 'unknown' : 'user',
      user_id: row.user_id || null,
      email: row.email,
      token: row.token_id === null ? null : { id: row.token_id, name: row.token_name },
    },
    source: {
      address: row.source_user_ip || null,
      user_agent: isCommand && !everything ? null : row.user_agent,
    },
    operation: row.operation || null,
    method: row.method || null,
    path: row.path || null,
    type: row.event_type,
    subject: row.subject,
    resources: (row.resource_ids ?? []).map((id, place) => ({ id, name: names[place] ?? null })),
    project_id: row.project_id,
    region_id: row.region_id,
    task_id: row.task_id,
    request_id: row.request_id || null,
    outcome: row.outcome,
    status: row.status || null,
    reason: row.reason,
    attempts: row.attempts ?? 1,
    sealed: row.id > sealed.after && row.id <= sealed.upTo,
  };
}
