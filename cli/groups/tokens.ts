import type { ApiCommand } from '../api/api-command.ts';

export const tokens: readonly ApiCommand[] = [
  {
    name: 'token list',
    operation: 'listApiTokens',
    columns: {
      ID: 'id',
      NAME: 'name',
      USER: 'client_user.user_email',
      ROLE: 'client_user.role.name',
      EXPIRES: 'exp_date',
      USED: 'last_usage',
    },
  },
  { name: 'token get', operation: 'getApiToken', arguments: ['tokenId'] },
  {
    name: 'token create',
    operation: 'createApiToken',
    summary: 'Create an API token and show it once',
    help: 'With a token of yours, the server makes it. Without one, this command works on the database; "tradewind token create --help" then has other options.',
    parts: {
      role: {
        at: ['client_user', 'role', 'name'],
        text: 'Administrators, Engineers or Users',
        value: 'ROLE',
        default: 'Administrators',
      },
      expires: { at: ['exp_date'], text: 'When it stops working (never)', value: 'TIME' },
    },
    body: { exp_date: null },
    without: ['client_user', 'exp_date'],
    only: 'token',
  },
  { name: 'token delete', operation: 'deleteApiToken', arguments: ['tokenId'] },
];
