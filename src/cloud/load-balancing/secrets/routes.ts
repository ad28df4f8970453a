import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { colonTimestamp } from '../../../lib/time.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { CreateSecret, CreateTlsSecret, SecretAnswer, SecretList, SecretListQuery, SecretParams } from './schema.ts';
import { createSecret, createTlsSecret, getSecret, listSecrets, secretDeletion } from './service.ts';
import type { StoredSecretRow } from './store.ts';

const PLACE = ':project_id/:region_id';
const BASE = `/cloud/v1/secrets/${PLACE}`;
const tags = ['Secrets'];

export function secretRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(`/cloud/v2/secrets/${PLACE}`, 'createTlsSecret', 'Store a certificate with its key', {
    description:
      'For listeners of load balancers. The key must belong to the certificate. The chain is judged as OpenSSL judges it: it must have the issuer of the certificate unless it is empty, and the issuers must be valid now, except for roots, of which clients have their own copy. Nobody can read the contents again.',
    body: CreateTlsSecret,
    task: ({ scope, body }) => createTlsSecret(on, scope, body),
  });

  api.post(BASE, 'createSecret', 'Store a secret', {
    description: 'Nobody can read the contents again. For certificates with keys, use version 2.',
    deprecated: true,
    body: CreateSecret,
    task: ({ scope, body }) => createSecret(on, scope, body),
  });

  api.get(BASE, 'listSecrets', 'List secrets', {
    description: 'Newest first, without their contents.',
    query: SecretListQuery,
    answer: SecretList,
    handler: async ({ scope, query }) => presentedPage(await listSecrets(on, scope, query), presented),
  });

  api.get(`${BASE}/:secret_id`, 'getSecret', 'Get a secret', {
    description: 'Without its contents.',
    params: SecretParams,
    answer: SecretAnswer,
    handler: async ({ scope, params }) => presented(await getSecret(on, scope, params.secret_id)),
  });

  api.delete(`${BASE}/:secret_id`, 'deleteSecret', 'Delete a secret', {
    description: 'Returns 409 while a listener or pool uses it.',
    params: SecretParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, secretDeletion, params.secret_id),
  });
}

function presented(row: StoredSecretRow): SecretAnswer {
  return {
    id: row.id,
    name: row.name,
    secret_type: row.secret_type,
    status: row.task_id === row.creator_task_id ? 'PENDING' : 'ACTIVE',
    algorithm: row.algorithm,
    bit_length: row.bit_length,
    mode: row.mode,
    content_types: { default: row.content_type },
    created: colonTimestamp(row.created_at),
    expiration: row.expires_at && colonTimestamp(row.expires_at),
  };
}
