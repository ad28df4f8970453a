import { Type } from 'typebox';
import type { Api } from '../../http/server.ts';
import { TagAnswer } from '../../lib/resource-fields.ts';
import { presentedTags } from '../../lib/tag-list.ts';
import { TagsInput } from '../../lib/tags-input.ts';
import { listOf } from '../../lib/wire.ts';
import { type Projects, scopeOf } from '../projects/service.ts';
import { GROUP_TAGS, GROUPS, GroupParams } from './params.ts';
import type { SecurityGroups } from './service.ts';

const common = { tags: GROUP_TAGS, deprecated: true, params: GroupParams };
const KeyQuery = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 255, description: 'Key of the tag', examples: ['env'] }) },
  { additionalProperties: false },
);

/** Tags of a group, as a resource of their own. */
export function groupMetadataRoutes(
  app: Api,
  { projects, securityGroups }: { projects: Projects; securityGroups: SecurityGroups },
): void {
  app.get(`${GROUPS}/:group_id/metadata`, {
    config: { access: 'read' },
    schema: {
      ...common,
      operationId: 'listSecurityGroupMetadata',
      summary: 'List the tags of a security group',
      response: { 200: listOf(TagAnswer, 'ResourceTagList') },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const results = presentedTags((await securityGroups.get(scope, request.params.group_id)).tags);
      return { count: results.length, results };
    },
  });

  app.post(`${GROUPS}/:group_id/metadata`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'addSecurityGroupMetadata',
      summary: 'Set tags of a security group',
      description: 'The others stay.',
      body: TagsInput,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const scope = await projects.scope(scopeOf(request));
      await securityGroups.addTags(scope, request.params.group_id, request.body);
      return reply.code(204).send(null);
    },
  });

  app.put(`${GROUPS}/:group_id/metadata`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'replaceSecurityGroupMetadata',
      summary: 'Replace all tags of a security group',
      body: TagsInput,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const scope = await projects.scope(scopeOf(request));
      await securityGroups.replaceTags(scope, request.params.group_id, request.body);
      return reply.code(204).send(null);
    },
  });

  app.get(`${GROUPS}/:group_id/metadata_item`, {
    config: { access: 'read' },
    schema: {
      ...common,
      operationId: 'getSecurityGroupMetadataItem',
      summary: 'Get a tag of a security group',
      querystring: KeyQuery,
      response: { 200: TagAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      const { key } = request.query;
      return { key, value: await securityGroups.tag(scope, request.params.group_id, key), read_only: false };
    },
  });

  app.delete(`${GROUPS}/:group_id/metadata_item`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'deleteSecurityGroupMetadataItem',
      summary: 'Remove a tag of a security group',
      querystring: KeyQuery,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const scope = await projects.scope(scopeOf(request));
      await securityGroups.removeTag(scope, request.params.group_id, request.query.key);
      return reply.code(204).send(null);
    },
  });
}
