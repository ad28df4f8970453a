import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoSeconds } from '../../../lib/timestamps.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { getProject } from '../../ground/projects/service.ts';
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
