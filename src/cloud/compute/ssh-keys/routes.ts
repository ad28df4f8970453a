import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { getProject } from '../../ground/projects/service.ts';
import {
  CreateKeyPair,
  CreateKeyPairV1,
  KeyPairAnswer,
  KeyPairList,
  KeyPairListQuery,
  KeyPairParams,
  KeyPairParamsV1,
  newSshKey,
  presentedKeyPair,
} from './legacy.ts';
import {
  CreatedSshKey,
  CreateSshKey,
  SshKeyAnswer,
  SshKeyList,
  SshKeyListQuery,
  SshKeyParams,
  SshKeysParams,
  UpdateSshKey,
} from './schema.ts';
import {
  createSshKey,
  deleteSshKey,
  getSshKey,
  listSshKeys,
  type ProjectScope,
  projectOfSshKey,
  shareSshKey,
} from './service.ts';
import type { SshKeyRow } from './store.ts';

const BASE = '/cloud/v1/ssh_keys/:project_id';
const VERSIONED: Versioned = {
  table: 'ssh_keys',
  columns: { project_id: 'project_id', ssh_key_id: 'id' },
  uuid: 'ssh_key_id',
};
const tags = ['SSH keys'];

export function sshKeyRoutes(app: Api, on: Platform): void {
  async function scopeOf(request: {
    principal: Principal;
    params: { project_id: number };
  }): Promise<ProjectScope> {
    const { id } = await getProject(on, request.principal, request.params.project_id);
    return { projectId: id, principal: request.principal };
  }

  const api = operations(app, { tags, params: SshKeyParams });

  api.post(BASE, 'createSshKey', 'Add or generate an SSH key', {
    secretAnswer: true,
    params: SshKeysParams,
    body: CreateSshKey,
    status: 201,
    answer: CreatedSshKey,
    handler: async (request) => {
      const key = await createSshKey(on, await scopeOf(request), request.body);
      return { ...presented(key), private_key: key.privateKey };
    },
  });

  api.get(BASE, 'listSshKeys', 'List SSH keys', {
    params: SshKeysParams,
    query: SshKeyListQuery,
    answer: SshKeyList,
    handler: async (request) =>
      presentedPage(await listSshKeys(on, await scopeOf(request), request.query), presented),
  });

  api.get(`${BASE}/:ssh_key_id`, 'getSshKey', 'Get an SSH key', {
    versioned: VERSIONED,
    answer: SshKeyAnswer,
    handler: async (request) =>
      presented(await getSshKey(on, await scopeOf(request), request.params.ssh_key_id)),
  });

  api.patch(`${BASE}/:ssh_key_id`, 'updateSshKey', 'Share or unshare an SSH key in its project', {
    body: UpdateSshKey,
    answer: SshKeyAnswer,
    handler: async (request) => {
      const { params, body } = request;
      return presented(
        await shareSshKey(on, await scopeOf(request), params.ssh_key_id, body.shared_in_project),
      );
    },
  });

  api.delete(`${BASE}/:ssh_key_id`, 'deleteSshKey', 'Delete an SSH key', {
    description:
      'Machines that already have the key keep it. Returns 409 while a cluster needs the key for new nodes or for Slurm.',
    handler: async (request) => deleteSshKey(on, await scopeOf(request), request.params.ssh_key_id),
  });
}

function presented(row: SshKeyRow): SshKeyAnswer {
  return {
    id: row.id,
    name: row.name,
    public_key: row.public_key,
    fingerprint: row.fingerprint,
    project_id: row.project_id,
    shared_in_project: row.shared_in_project,
    state: 'ACTIVE',
    created_at: isoSeconds(row.created_at),
  };
}

const ALL = '/cloud/v2/keypairs';
const OF_PROJECT = '/cloud/v1/keypairs/:project_id/:region_id';
const MAX_LISTED = 1000;

/** Routes for SSH keys under the name that older clients use. The second version finds a key by its ID alone. */
export function keyPairRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['SSH keys'], params: KeyPairParamsV1, deprecated: true });

  api.post(ALL, 'createKeyPair', 'Add an SSH key to a project or generate one', {
    secretAnswer: true,
    body: CreateKeyPair,
    answer: KeyPairAnswer,
    handler: async ({ principal, body }) => {
      const key = await createSshKey(on, await scopeIn(principal, body.project_id), newSshKey(body));
      return presentedKeyPair(key, key.privateKey);
    },
  });

  api.get(ALL, 'listKeyPairs', 'List the SSH keys of a project as key pairs', {
    description: 'Lists the keys that the caller can use, at most the 1000 latest.',
    query: KeyPairListQuery,
    answer: KeyPairList,
    handler: async ({ principal, query: { project_id: projectId, user_id: addedBy } }) =>
      listed(await scopeIn(principal, projectId), addedBy),
  });

  api.get(`${ALL}/:keypair_id`, 'getKeyPair', 'Get an SSH key of any project as a key pair', {
    params: KeyPairParams,
    answer: KeyPairAnswer,
    handler: async ({ principal, params: { keypair_id: id } }) =>
      presentedKeyPair(await getSshKey(on, await scopeOfKey(principal, id), id)),
  });

  api.delete(`${ALL}/:keypair_id`, 'deleteKeyPair', 'Delete an SSH key of any project', {
    params: KeyPairParams,
    handler: async ({ principal, params: { keypair_id: id } }) =>
      deleteSshKey(on, await scopeOfKey(principal, id), id),
  });

  api.post(OF_PROJECT, 'createKeyPairV1', 'Add or generate an SSH key', {
    secretAnswer: true,
    params: ProjectRegionParams,
    body: CreateKeyPairV1,
    answer: KeyPairAnswer,
    handler: async ({ scope, body }) => {
      const key = await createSshKey(on, scope, newSshKey(body));
      return presentedKeyPair(key, key.privateKey);
    },
  });

  api.get(OF_PROJECT, 'listKeyPairsV1', 'List SSH keys as key pairs', {
    description:
      'Lists the keys that the caller can use, at most the 1000 latest. Every region has the same keys.',
    params: ProjectRegionParams,
    answer: KeyPairList,
    handler: async ({ scope }) => listed(scope),
  });

  api.get(`${OF_PROJECT}/:keypair_id`, 'getKeyPairV1', 'Get an SSH key as a key pair', {
    answer: KeyPairAnswer,
    handler: async ({ scope, params }) => presentedKeyPair(await getSshKey(on, scope, params.keypair_id)),
  });

  api.delete(`${OF_PROJECT}/:keypair_id`, 'deleteKeyPairV1', 'Delete an SSH key (older path)', {
    handler: ({ scope, params }) => deleteSshKey(on, scope, params.keypair_id),
  });

  api.patch(
    `${OF_PROJECT}/:keypair_id/share`,
    'shareKeyPairV1',
    'Share or unshare an SSH key in its project (older path)',
    {
      body: UpdateSshKey,
      answer: KeyPairAnswer,
      handler: async ({ scope, params, body }) =>
        presentedKeyPair(await shareSshKey(on, scope, params.keypair_id, body.shared_in_project)),
    },
  );

  async function listed(scope: ProjectScope, addedBy?: number) {
    const { count, rows } = await listSshKeys(on, scope, { limit: MAX_LISTED }, addedBy);
    return { count, results: rows.map((row) => presentedKeyPair(row)) };
  }

  async function scopeIn(principal: Principal, projectId: number): Promise<ProjectScope> {
    const { id } = await getProject(on, principal, projectId);
    return { projectId: id, principal };
  }

  /** @throws NotFoundError, the same one for an unknown key and another account's key */
  async function scopeOfKey(principal: Principal, id: string): Promise<ProjectScope> {
    const projectId = found('SSH key', id, await projectOfSshKey(on, id));
    return scopeIn(principal, projectId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? new NotFoundError('SSH key', id) : error;
    });
  }
}
