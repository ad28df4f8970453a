import type { ApiCommand } from '../api/api-command.ts';

export const clients: readonly ApiCommand[] = [
  {
    name: 'client list',
    operation: 'listClients',
    columns: { ID: 'id', COMPANY: 'companyName', EMAIL: 'email', STATUS: 'status', DELETED: 'deleted' },
  },
  {
    name: 'client get',
    operation: 'getClient',
    summary: 'Get a client; by default that of the token',
    arguments: ['clientId?'],
  },
  { name: 'client create', operation: 'createClient' },
  { name: 'client change', operation: 'updateClient', arguments: ['clientId'] },
];
