import { Type } from 'typebox';
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
import type { ProjectScope } from './service.ts';
import { createSshKey, deleteSshKey, getSshKey, listSshKeys, shareSshKey } from './service.ts';
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

  app.post(BASE, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      operationId: 'createSshKey',
      summary: 'Add or generate an SSH key',
      tags,
      params: SshKeysParams,
      body: CreateSshKey,
      response: { 201: CreatedSshKey },
    },
    handler: async (request, reply) => {
      const key = await createSshKey(on, await scopeOf(request), request.body);
      return reply.code(201).send({ ...presented(key), private_key: key.privateKey });
    },
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listSshKeys',
      summary: 'List SSH keys',
      tags,
      params: SshKeysParams,
      querystring: SshKeyListQuery,
      response: { 200: SshKeyList },
    },
    handler: async (request) =>
      presentedPage(await listSshKeys(on, await scopeOf(request), request.query), presented),
  });

  app.get(`${BASE}/:ssh_key_id`, {
    config: { access: 'read', versioned: VERSIONED },
    schema: {
      operationId: 'getSshKey',
      summary: 'Get an SSH key',
      tags,
      params: SshKeyParams,
      response: { 200: SshKeyAnswer },
    },
    handler: async (request) =>
      presented(await getSshKey(on, await scopeOf(request), request.params.ssh_key_id)),
  });

  app.patch(`${BASE}/:ssh_key_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateSshKey',
      summary: 'Share or unshare an SSH key in its project',
      tags,
      params: SshKeyParams,
      body: UpdateSshKey,
      response: { 200: SshKeyAnswer },
    },
    handler: async (request) => {
      const { params, body } = request;
      return presented(
        await shareSshKey(on, await scopeOf(request), params.ssh_key_id, body.shared_in_project),
      );
    },
  });

  app.delete(`${BASE}/:ssh_key_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteSshKey',
      summary: 'Delete an SSH key',
      description:
        'Machines that already have the key keep it. Returns 409 while a cluster needs the key for new nodes or for Slurm.',
      tags,
      params: SshKeyParams,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await deleteSshKey(on, await scopeOf(request), request.params.ssh_key_id);
      return reply.code(204).send(null);
    },
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
