import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { streamed } from '../../http/streamed.ts';
import { accepts } from '../../lib/accepts.ts';
import type { Platform } from '../../platform.ts';
import { AuditAnswer, AuditQuery, type AuditRecord } from './schema.ts';
import { exportAudit, listAudit } from './service.ts';

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
      return streamed(reply, LINES, linesOf(pages));
    },
  });
}

async function* linesOf(pages: AsyncGenerator<AuditRecord[]>): AsyncGenerator<string> {
  for await (const records of pages) yield records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
