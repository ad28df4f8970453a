import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
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
import { UpdateSshKey } from './schema.ts';
import type { ProjectScope } from './service.ts';
import {
  createSshKey,
  deleteSshKey,
  getSshKey,
  listSshKeys,
  projectOfSshKey,
  shareSshKey,
} from './service.ts';

const ALL = '/cloud/v2/keypairs';
const OF_PROJECT = '/cloud/v1/keypairs/:project_id/:region_id';
const shared = { tags: ['SSH keys'], deprecated: true };
const MAX_LISTED = 1000;

/** Routes for SSH keys under the name that older clients use. The second version finds a key by its ID alone. */
export function keyPairRoutes(app: Api, on: Platform): void {
  app.post(ALL, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      ...shared,
      operationId: 'createKeyPair',
      summary: 'Add an SSH key to a project or generate one',
      body: CreateKeyPair,
      response: { 200: KeyPairAnswer },
    },
    handler: async ({ principal, body }) => {
      const key = await createSshKey(on, await scopeIn(principal, body.project_id), newSshKey(body));
      return presentedKeyPair(key, key.privateKey);
    },
  });

  app.get(ALL, {
    config: { access: 'read' },
    schema: {
      ...shared,
      operationId: 'listKeyPairs',
      summary: 'List the SSH keys of a project as key pairs',
      description: 'Lists the keys that the caller can use, at most the 1000 latest.',
      querystring: KeyPairListQuery,
      response: { 200: KeyPairList },
    },
    handler: async ({ principal, query: { project_id: projectId, user_id: addedBy } }) =>
      listed(await scopeIn(principal, projectId), addedBy),
  });

  app.get(`${ALL}/:keypair_id`, {
    config: { access: 'read' },
    schema: {
      ...shared,
      operationId: 'getKeyPair',
      summary: 'Get an SSH key of any project as a key pair',
      params: KeyPairParams,
      response: { 200: KeyPairAnswer },
    },
    handler: async ({ principal, params: { keypair_id: id } }) =>
      presentedKeyPair(await getSshKey(on, await scopeOfKey(principal, id), id)),
  });

  app.delete(`${ALL}/:keypair_id`, {
    config: { access: 'operate' },
    schema: {
      ...shared,
      operationId: 'deleteKeyPair',
      summary: 'Delete an SSH key of any project',
      params: KeyPairParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params: { keypair_id: id } }, reply) => {
      await deleteSshKey(on, await scopeOfKey(principal, id), id);
      return reply.code(204).send(null);
    },
  });

  app.post(OF_PROJECT, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      ...shared,
      operationId: 'createKeyPairV1',
      summary: 'Add or generate an SSH key',
      params: ProjectRegionParams,
      body: CreateKeyPairV1,
      response: { 200: KeyPairAnswer },
    },
    handler: async ({ scope, body }) => {
      const key = await createSshKey(on, scope, newSshKey(body));
      return presentedKeyPair(key, key.privateKey);
    },
  });

  app.get(OF_PROJECT, {
    config: { access: 'read' },
    schema: {
      ...shared,
      operationId: 'listKeyPairsV1',
      summary: 'List SSH keys as key pairs',
      description:
        'Lists the keys that the caller can use, at most the 1000 latest. Every region has the same keys.',
      params: ProjectRegionParams,
      response: { 200: KeyPairList },
    },
    handler: async ({ scope }) => listed(scope),
  });

  app.get(`${OF_PROJECT}/:keypair_id`, {
    config: { access: 'read' },
    schema: {
      ...shared,
      operationId: 'getKeyPairV1',
      summary: 'Get an SSH key as a key pair',
      params: KeyPairParamsV1,
      response: { 200: KeyPairAnswer },
    },
    handler: async ({ scope, params }) => presentedKeyPair(await getSshKey(on, scope, params.keypair_id)),
  });

  app.delete(`${OF_PROJECT}/:keypair_id`, {
    config: { access: 'operate' },
    schema: {
      ...shared,
      operationId: 'deleteKeyPairV1',
      summary: 'Delete an SSH key (older path)',
      params: KeyPairParamsV1,
      response: { 204: Type.Null() },
    },
    handler: async ({ scope, params }, reply) => {
      await deleteSshKey(on, scope, params.keypair_id);
      return reply.code(204).send(null);
    },
  });

  app.patch(`${OF_PROJECT}/:keypair_id/share`, {
    config: { access: 'operate' },
    schema: {
      ...shared,
      operationId: 'shareKeyPairV1',
      summary: 'Share or unshare an SSH key in its project (older path)',
      params: KeyPairParamsV1,
      body: UpdateSshKey,
      response: { 200: KeyPairAnswer },
    },
    handler: async ({ scope, params, body }) =>
      presentedKeyPair(await shareSshKey(on, scope, params.keypair_id, body.shared_in_project)),
  });

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
