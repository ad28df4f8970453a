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
import * as legacy from './legacy.ts';
import * as schema from './schema.ts';
import * as sshKeys from './service.ts';
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
  }): Promise<sshKeys.ProjectScope> {
    const { id } = await getProject(on, request.principal, request.params.project_id);
    return { projectId: id, principal: request.principal };
  }

  const api = operations(app, { tags, params: schema.SshKeyParams });

  api.post(BASE, 'createSshKey', 'Add or generate an SSH key', {
    secretAnswer: true,
    params: schema.SshKeysParams,
    body: schema.CreateSshKey,
    status: 201,
    answer: schema.CreatedSshKey,
    handler: async (request) => {
      const key = await sshKeys.createSshKey(on, await scopeOf(request), request.body);
      return { private_key: key.privateKey, ...presented(key) };
    },
  });

  api.get(BASE, 'listSshKeys', 'List SSH keys', {
    params: schema.SshKeysParams,
    query: schema.SshKeyListQuery,
    answer: schema.SshKeyList,
    handler: async (request) =>
      presentedPage(await sshKeys.listSshKeys(on, await scopeOf(request), request.query), presented),
  });

  api.get(`${BASE}/:ssh_key_id`, 'getSshKey', 'Get an SSH key', {
    versioned: VERSIONED,
    answer: schema.SshKeyAnswer,
    handler: async (request) =>
      presented(await sshKeys.getSshKey(on, await scopeOf(request), request.params.ssh_key_id)),
  });

  api.patch(`${BASE}/:ssh_key_id`, 'updateSshKey', 'Share or unshare an SSH key in its project', {
    body: schema.UpdateSshKey,
    answer: schema.SshKeyAnswer,
    handler: async (request) => {
      const { params, body } = request;
      return presented(
        await sshKeys.shareSshKey(on, await scopeOf(request), params.ssh_key_id, body.shared_in_project),
      );
    },
  });

  api.delete(`${BASE}/:ssh_key_id`, 'deleteSshKey', 'Delete an SSH key', {
    description:
      'Machines that already have the key keep it. Returns 409 while a cluster needs the key for new nodes or for Slurm.',
    handler: async (request) => sshKeys.deleteSshKey(on, await scopeOf(request), request.params.ssh_key_id),
  });
}

function presented(row: SshKeyRow): schema.SshKeyAnswer {
  return {
    state: 'ACTIVE',
    ...row,
    created_at: isoSeconds(row.created_at),
  };
}

const ALL = '/cloud/v2/keypairs';
const OF_PROJECT = '/cloud/v1/keypairs/:project_id/:region_id';
const MAX_LISTED = 1000;

/** Routes for SSH keys under the name that older clients use. The second version finds a key by its ID alone. */
export function keyPairRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['SSH keys'], params: legacy.KeyPairParamsV1, deprecated: true });

  api.post(ALL, 'createKeyPair', 'Add an SSH key to a project or generate one', {
    secretAnswer: true,
    body: legacy.CreateKeyPair,
    answer: legacy.KeyPairAnswer,
    handler: async ({ principal, body }) => {
      const key = await sshKeys.createSshKey(on, await scopeIn(principal, body.project_id), legacy.newSshKey(body));
      return legacy.presentedKeyPair(key, key.privateKey);
    },
  });

  api.get(ALL, 'listKeyPairs', 'List the SSH keys of a project as key pairs', {
    description: 'Lists the keys that the caller can use, at most the 1000 latest.',
    query: legacy.KeyPairListQuery,
    answer: legacy.KeyPairList,
    handler: async ({ principal, query: { project_id: projectId, user_id: addedBy } }) =>
      listed(await scopeIn(principal, projectId), addedBy),
  });

  api.get(`${ALL}/:keypair_id`, 'getKeyPair', 'Get an SSH key of any project as a key pair', {
    params: legacy.KeyPairParams,
    answer: legacy.KeyPairAnswer,
    handler: async ({ principal, params: { keypair_id: id } }) =>
      legacy.presentedKeyPair(await sshKeys.getSshKey(on, await scopeOfKey(principal, id), id)),
  });

  api.delete(`${ALL}/:keypair_id`, 'deleteKeyPair', 'Delete an SSH key of any project', {
    params: legacy.KeyPairParams,
    handler: async ({ principal, params: { keypair_id: id } }) =>
      sshKeys.deleteSshKey(on, await scopeOfKey(principal, id), id),
  });

  api.post(OF_PROJECT, 'createKeyPairV1', 'Add or generate an SSH key', {
    secretAnswer: true,
    params: ProjectRegionParams,
    body: legacy.CreateKeyPairV1,
    answer: legacy.KeyPairAnswer,
    handler: async ({ scope, body }) => {
      const key = await sshKeys.createSshKey(on, scope, legacy.newSshKey(body));
      return legacy.presentedKeyPair(key, key.privateKey);
    },
  });

  api.get(OF_PROJECT, 'listKeyPairsV1', 'List SSH keys as key pairs', {
    description: 'Lists the keys that the caller can use, at most the 1000 latest. Every region has the same keys.',
    params: ProjectRegionParams,
    answer: legacy.KeyPairList,
    handler: async ({ scope }) => listed(scope),
  });

  api.get(`${OF_PROJECT}/:keypair_id`, 'getKeyPairV1', 'Get an SSH key as a key pair', {
    answer: legacy.KeyPairAnswer,
    handler: async ({ scope, params }) =>
      legacy.presentedKeyPair(await sshKeys.getSshKey(on, scope, params.keypair_id)),
  });

  api.delete(`${OF_PROJECT}/:keypair_id`, 'deleteKeyPairV1', 'Delete an SSH key (older path)', {
    handler: ({ scope, params }) => sshKeys.deleteSshKey(on, scope, params.keypair_id),
  });

  api.patch(
    `${OF_PROJECT}/:keypair_id/share`,
    'shareKeyPairV1',
    'Share or unshare an SSH key in its project (older path)',
    {
      body: schema.UpdateSshKey,
      answer: legacy.KeyPairAnswer,
      handler: async ({ scope, params, body }) =>
        legacy.presentedKeyPair(await sshKeys.shareSshKey(on, scope, params.keypair_id, body.shared_in_project)),
    },
  );

  async function listed(scope: sshKeys.ProjectScope, addedBy?: number) {
    const { count, rows } = await sshKeys.listSshKeys(on, scope, { limit: MAX_LISTED }, addedBy);
    return { count, results: rows.map((row) => legacy.presentedKeyPair(row)) };
  }

  async function scopeIn(principal: Principal, projectId: number): Promise<sshKeys.ProjectScope> {
    const { id } = await getProject(on, principal, projectId);
    return { projectId: id, principal };
  }

  /** @throws NotFoundError, the same one for an unknown key and another account's key */
  async function scopeOfKey(principal: Principal, id: string): Promise<sshKeys.ProjectScope> {
    const projectId = found('SSH key', id, await sshKeys.projectOfSshKey(on, id));
    return scopeIn(principal, projectId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? new NotFoundError('SSH key', id) : error;
    });
  }
}
