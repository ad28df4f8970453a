import type { ApiCommand } from '../api/api-command.ts';

export const clients: readonly ApiCommand[] = [
  {
    name: 'client list',
    operation: 'listClients',
    columns: { ID: 'id', COMPANY: 'companyName', EMAIL: 'email', STATUS: 'status', DELETED: 'deleted' },
  },
  { name: 'client me', operation: 'getMyAccount' },
  { name: 'client get', operation: 'getClient', arguments: ['clientId'] },
  { name: 'client create', operation: 'createClient' },
  { name: 'client change', operation: 'updateClient', arguments: ['clientId'] },
  { name: 'client suspend', operation: 'suspendClient', arguments: ['client_id'] },
  { name: 'client unsuspend', operation: 'resumeClient', arguments: ['client_id'] },
  {
    name: 'client delete',
    operation: 'deleteClient',
    arguments: ['client_id'],
    help: 'Shows what the account holds, and a confirmation. With that in --confirmation, within ten minutes, it deletes all of it.',
    tasks: true,
  },
];
