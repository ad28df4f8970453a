import { operationOf } from '../api/operations.ts';
import { optionName, optionOf } from '../api/values.ts';
import type { ClientCommand } from '../command.ts';

const filters = () =>
  operationOf('listAuditRecords').query.filter(({ name }) => !['limit', 'page_token'].includes(name));

export const audit: readonly ClientCommand[] = [
  {
    name: 'audit export',
    summary: 'Write all records of the audit log as lines of JSON',
    arguments: [],
    get options() {
      return filters().map(optionOf);
    },
    async run({ api, values, terminal }) {
      const parameters = Object.fromEntries(filters().map(({ name }) => [name, values[optionName(name)]]));
      const headers = { accept: 'application/x-ndjson, application/problem+json' };
      for await (const text of await api.stream('listAuditRecords', { parameters, headers })) terminal.out(text);
    },
  },
];
