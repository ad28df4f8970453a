import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { accepts, streamed } from '../../http/streamed.ts';
import { ForbiddenError } from '../../lib/errors.ts';
import { isTimeAndId, pageToken, placeOf } from '../../lib/page.ts';
import { calendarTime } from '../../lib/time.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { AuditAnswer, type AuditList, AuditQuery, type AuditRecord, presentedRecord } from './schema.ts';
import { type AuditFilter, type AuditRow, type Place, readRecords, sealedRecords } from './store.ts';

/** Records that an export reads at once. */
const PAGE = 500;

async function page(on: Platform, filter: AuditFilter, after: Place | undefined, limit: number) {
  const rows = await readRecords(on.database.sql, filter, after, limit);
  const sealed = await sealedRecords(on.database.sql);
  const { everything } = filter;
  return { rows, records: rows.map((row) => presentedRecord(row, { sealed, everything })) };
}

/** Includes what this process has not written yet. */
async function flush(on: Platform): Promise<void> {
  on.refusals.flush();
  await on.actionLog.flush();
}

/** @throws ForbiddenError for another account; InvalidError */
export async function listAudit(on: Platform, principal: Principal, query: AuditQuery): Promise<AuditList> {
  const filter = filterOf(principal, query);
  const after = placeIn(query.page_token);
  await flush(on);
  const { limit = 100 } = query;
  const { rows, records } = await page(on, filter, after, limit);
  return { records, next_page_token: rows.length < limit ? null : tokenOf(rows) };
}

/** Returns everything that matches, a page at a time. @throws like `listAudit`, before the first page */
export async function exportAudit(
  on: Platform,
  principal: Principal,
  query: AuditQuery,
): Promise<AsyncGenerator<AuditRecord[]>> {
  const filter = filterOf(principal, query);
  const first = placeIn(query.page_token);
  await flush(on);
  async function* pages(): AsyncGenerator<AuditRecord[]> {
    for (let after = first; ; ) {
      const { rows, records } = await page(on, filter, after, PAGE);
      if (records.length > 0) yield records;
      if (rows.length < PAGE) return;
      after = placeAfter(rows);
    }
  }
  return pages();
}

function filterOf(principal: Principal, query: AuditQuery): AuditFilter {
  const { platformAdministrator, clientId: own } = principal;
  if (!platformAdministrator && query.client_id !== undefined && query.client_id !== own) {
    throw new ForbiddenError(`The audit log of client ${query.client_id} is for its own administrators`);
  }
  return {
    everything: platformAdministrator,
    clientId: platformAdministrator ? query.client_id : own,
    userIds: query.user_id,
    tokenIds: query.token_id,
    types: query.type,
    subjects: query.subject,
    projectIds: query.project_id,
    addresses: query.address,
    requestIds: query.request_id,
    outcomes: query.outcome,
    from: calendarTime('from', query.from),
    before: calendarTime('to', query.to),
  };
}

/** Returns where the next page begins, after these rows. */
function placeAfter(rows: readonly AuditRow[]): Place | undefined {
  const last = rows.at(-1);
  return last && { at: last.timestamp, id: last.id };
}

function tokenOf(rows: readonly AuditRow[]): string | null {
  const place = placeAfter(rows);
  return place ? pageToken([place.at.getTime(), place.id]) : null;
}

function placeIn(token: string | undefined): Place | undefined {
  const place = placeOf(token, isTimeAndId);
  return place && { at: new Date(place[0]), id: place[1] };
}

const LINES = 'application/x-ndjson';

export function auditRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Audit'], access: 'administer' });

  api.get('/tradewind/v1/audit', 'listAuditRecords', 'Who did what', {
    description:
      "Every request for a change, whatever became of it, every command of the operator, and refused credentials and rights: who, from where and with which token. An account's administrators see what concerns it, the platform administrator everything. `Accept: application/x-ndjson` exports all that matches. The newest come first.",
    query: AuditQuery,
    answer: AuditAnswer,
    handler: async ({ principal, query, headers, method }, reply) => {
      void reply.header('cache-control', 'no-store');
      const isExport = method !== 'HEAD' && accepts(headers.accept, LINES);
      if (!isExport) return listAudit(on, principal, query);
      const pages = await exportAudit(on, principal, query);
      return streamed(reply, `${LINES}; charset=utf-8`, linesOf(pages));
    },
  });
}

async function* linesOf(pages: AsyncGenerator<AuditRecord[]>): AsyncGenerator<string> {
  for await (const records of pages) yield records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
